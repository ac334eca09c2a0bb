#!/bin/sh
# What fetch tools of open agents that give the whole page as Markdown send, and what they make of pages on loopback, with their
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

row smolagents 'smolagents[toolkit]==1.26.0' requests==2.34.2 -- \
  'python-requests/2.34.2 12 error wrong wrong cut alt,noscript,hidden,inline,class apart given reads'
row markitdown markitdown==0.1.9 requests==2.34.2 -- \
  'python-requests/2.34.2 12 error right right whole alt,noscript,hidden,inline,class apart given reads'
row llama_index llama-index-readers-web==0.7.0 requests==2.34.2 -- \
  'python-requests/2.34.2 12 words wrong wrong whole alt,noscript,hidden,inline,class apart given reads'
row crawl4ai crawl4ai==0.9.5 -- \
  'Mozilla/5.0_(Windows_NT_10.0;_Win64;_x64)_AppleWebKit/537.36 9 error right right cut alt,hidden,inline,class apart given reads'

exit "$failed"
