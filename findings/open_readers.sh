#!/bin/sh
# What fetch tools of open agents send, and what they make of pages on loopback, with their defaults: User-Agent, redirects
# followed of 12, a page with 403, letters of windows-1251 and of utf-8 that a meta element alone names, a page of 200,000
# letters, what reaches the model besides text, cells of tables, text/markdown, and robots.txt with 403. Seen with Python
# 3.11 on 2026-11-27. Fails where a row is another one. Takes about ten minutes and 1 GB, freed tool by tool. Needs uv.
# Usage: open_readers.sh [TOOL...]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wanted="$*"
failed=0

# row TOOL PACKAGES... -- ROW
row() {
  tool=$1 packages=''
  shift
  while [ "$1" != -- ]; do packages="$packages $1"; shift; done
  shift
  case " ${wanted:-$tool} " in *" $tool "*) ;; *) return 0 ;; esac
  uv venv -q --python 3.11 "$work/$tool"
  # shellcheck disable=SC2086
  uv pip install -q --python "$work/$tool/bin/python" $packages
  "$work/$tool/bin/python" "$here/open_readers.py" "$tool" "$*" || failed=1
  rm -rf "$work/$tool"
}

row mcp_server_fetch mcp-server-fetch==2026.10.24 -- \
  'ModelContextProtocol/1.0_(Autonomous;_+https://github.com/modelcontextprotocol/servers) 12 error wrong right cut alt,class apart given stops'
row smolagents 'smolagents[toolkit]==1.26.0' requests==2.34.2 -- \
  'python-requests/2.34.2 12 error wrong wrong cut alt,noscript,hidden,inline,class apart given reads'
row markitdown markitdown==0.1.9 requests==2.34.2 -- \
  'python-requests/2.34.2 12 error right right whole alt,noscript,hidden,inline,class apart given reads'
row trafilatura trafilatura==2.3.1 lxml-html-clean -- \
  'trafilatura/2.3.1_(+https://github.com/adbar/trafilatura) 2 nothing right right whole hidden,class apart nothing reads'
row haystack haystack-ai==3.4.1 trafilatura==2.3.1 lxml-html-clean -- \
  'haystack/LinkContentFetcher/3.4.1 12 error right right whole hidden,class apart nothing reads'
row langchain langchain-community==0.4.2 beautifulsoup4 lxml -- \
  'DefaultLangchainUserAgent 12 words right right whole noscript,hidden,inline,class together given reads'
row llama_index llama-index-readers-web==0.7.0 requests==2.34.2 -- \
  'python-requests/2.34.2 12 words wrong wrong whole alt,noscript,hidden,inline,class apart given reads'
row crewai crewai-tools==1.15.30 -- \
  'Mozilla/5.0_(Windows_NT_10.0;_Win64;_x64)_AppleWebKit/537.36_(KHTML,_like_Gecko)_Chrome/96.0.4664.110_Safari/537.36 10 words right right whole noscript,hidden,inline,class apart given reads'
row strands strands-agents-tools==0.8.10 requests==2.34.2 -- \
  'python-requests/2.34.2 12 words wrong wrong whole jsonld,aria-label,alt,noscript,hidden,inline,class apart given reads'
row newspaper 'newspaper4k[all]==0.9.6' -- \
  'newspaper/0.9.6 10 error right right cut hidden,inline,class together nothing reads'
row crawl4ai crawl4ai==0.9.5 -- \
  'Mozilla/5.0_(Windows_NT_10.0;_Win64;_x64)_AppleWebKit/537.36 9 error right right cut alt,hidden,inline,class apart given reads'
row qwen qwen-agent==0.0.34 beautifulsoup4 pdfminer.six python-docx python-pptx pandas tabulate soundfile tqdm requests==2.34.2 -- \
  'Mozilla/5.0_(Windows_NT_10.0;_Win64;_x64)_AppleWebKit/537.36_(KHTML,_like_Gecko)_Chrome/58.0.3029.110_Safari/537.3 12 error error right whole noscript,hidden,inline,class together given reads'
row agno agno==3.1.10 beautifulsoup4 httpx==0.28.1 -- \
  'python-httpx/0.28.1 12 error right right whole noscript,hidden,inline,class apart given reads'

exit "$failed"
