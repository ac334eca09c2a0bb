#!/bin/sh
# What fetch tools of open agents that give all text of a page, or its HTML send, and what they make of pages on loopback, with their
# defaults: User-Agent, redirects followed of 12, a page with 403, letters of windows-1251 and of utf-8 that a meta
# element alone names, a page of 200,000 letters, what reaches the model besides text, cells of tables, text/markdown, and
# robots.txt with 403. Seen with Python 3.11 on 2026-11-27. Fails where a row is another one.
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
  python3 -m venv "$work/$tool"
  # shellcheck disable=SC2086
  "$work/$tool/bin/python" -m pip install -q --disable-pip-version-check $packages
  "$work/$tool/bin/python" "$here/open_readers.py" "$tool" "$*" || failed=1
  rm -rf "$work/$tool"
}

row langchain langchain-community==0.4.2 beautifulsoup4 lxml -- \
  'DefaultLangchainUserAgent 12 words right right whole noscript,hidden,inline,class together given reads'
row crewai crewai-tools==1.15.30 -- \
  'Mozilla/5.0_(Windows_NT_10.0;_Win64;_x64)_AppleWebKit/537.36_(KHTML,_like_Gecko)_Chrome/96.0.4664.110_Safari/537.36 10 words right right whole noscript,hidden,inline,class apart given reads'
row qwen 'qwen-agent[rag]==0.0.34' soundfile python-dateutil tqdm -- \
  'Mozilla/5.0_(Windows_NT_10.0;_Win64;_x64)_AppleWebKit/537.36_(KHTML,_like_Gecko)_Chrome/58.0.3029.110_Safari/537.3 12 error error right whole noscript,hidden,inline,class together given reads'
row agno agno==3.1.10 httpx beautifulsoup4 -- \
  'python-httpx/0.28.1 12 error right right whole noscript,hidden,inline,class apart given reads'
row strands strands-agents-tools==0.8.10 -- \
  'python-requests/2.34.2 12 words wrong wrong whole jsonld,aria-label,alt,noscript,hidden,inline,class apart given reads'

exit "$failed"
