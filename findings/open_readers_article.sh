#!/bin/sh
# What fetch tools of open agents that give the main part of a page send, and what they make of pages on loopback, with their
# defaults: User-Agent, redirects followed of 12, a page with 403, letters of windows-1251 and of utf-8 that a meta
# element alone names, a page of 200,000 letters, what reaches the model besides text, cells of tables, text/markdown, and
# robots.txt with 403. Seen with Python 3.11 on 2026-11-27. Fails where a row is another one. Needs uv.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# row TOOL PACKAGES... -- ROW
row() {
  tool=$1 packages=''
  shift
  while [ "$1" != -- ]; do packages="$packages $1"; shift; done
  shift
  uv venv -q --python 3.11 "$work/$tool"
  # shellcheck disable=SC2086
  uv pip install -q --python "$work/$tool/bin/python" $packages
  "$work/$tool/bin/python" "$here/open_readers.py" "$tool" "$*" || failed=1
  rm -rf "$work/$tool"
}

row mcp_server_fetch mcp-server-fetch==2026.10.24 -- \
  'ModelContextProtocol/1.0_(Autonomous;_+https://github.com/modelcontextprotocol/servers) 12 error wrong right cut alt,class apart given stops'
row trafilatura trafilatura==2.3.1 lxml-html-clean -- \
  'trafilatura/2.3.1_(+https://github.com/adbar/trafilatura) 2 nothing right right whole hidden,class apart nothing reads'
row haystack haystack-ai==3.4.1 trafilatura==2.3.1 lxml-html-clean -- \
  'haystack/LinkContentFetcher/3.4.1 12 error right right whole hidden,class apart nothing reads'
row newspaper 'newspaper4k[all]==0.9.6' -- \
  'newspaper/0.9.6 10 error right right cut hidden,inline,class together nothing reads'

exit "$failed"
