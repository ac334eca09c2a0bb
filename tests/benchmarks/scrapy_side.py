"""Scrapy's side of the crawl benchmark: reads its plan from standard input, prints [seconds, CPU seconds, answers]."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import AsyncIterator
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.resolver import CachingThreadedResolver
from twisted.internet import defer


class Loopback(CachingThreadedResolver):
    """Leads every name to this machine."""

    def getHostByName(self, name: str, timeout: Any = None) -> Any:
        return defer.succeed("127.0.0.1")


class Spider(scrapy.Spider):
    """Asks what a scan asks."""

    name = "same-gets"
    plan: dict[str, Any]
    answers = 0

    async def start(self) -> AsyncIterator[Any]:
        browser = self.plan["agents"][0]
        for host in self.plan["hosts"]:
            base = f"https://{host}:{self.plan['port']}"
            for agent in self.plan["agents"]:
                yield self.request(base + "/", agent)
            for path in self.plan["files"]:
                yield self.request(base + path, browser)

    def request(self, url: str, agent: str) -> Any:
        return scrapy.Request(url, headers={"User-Agent": agent}, dont_filter=True, callback=self.take)

    def take(self, response: Any) -> None:
        Spider.answers += bool(response.body)


def main() -> None:
    Spider.plan = json.load(sys.stdin)
    process = CrawlerProcess(
        {
            "LOG_ENABLED": False,
            "ROBOTSTXT_OBEY": False,
            "RETRY_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "HTTPERROR_ALLOW_ALL": True,
            "DOWNLOAD_DELAY": 0,
            "CONCURRENT_REQUESTS": 12 * Spider.plan["in_flight"],
            "CONCURRENT_REQUESTS_PER_DOMAIN": 12,
            "DNS_RESOLVER": "tests.benchmarks.scrapy_side.Loopback",
        }
    )
    process.crawl(Spider)
    began, spent = time.perf_counter(), time.process_time()
    process.start()
    print(json.dumps([time.perf_counter() - began, time.process_time() - spent, Spider.answers]))


if __name__ == "__main__":
    main()
