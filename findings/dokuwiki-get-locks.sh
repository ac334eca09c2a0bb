#!/bin/sh
# Agents that follow links: GET is safe, nothing is asked for but reading (RFC 9110, 9.2.1).
# Seen: DokuWiki 2022-07-31 (Debian package dokuwiki 0.0.20220731.a-2, PHP's own server) locks a page for everybody else
# when somebody without an account follows its link "Edit this page", a GET to ?do=edit: a lock that stands 15 minutes,
# and that reading the page does not make. Needs apt-get, dpkg-deb, php with its XML, and curl.
set -eu
folder=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
server=
cd "$folder"
apt-get download --quiet dokuwiki=0.0.20220731.a-2 >/dev/null 2>&1
dpkg-deb -x dokuwiki_*.deb package
cp -rL package/usr/share/dokuwiki wiki 2>/dev/null || true
mkdir conf data
for file in package/etc/dokuwiki/*; do [ -f "$file" ] && [ ! -h "$file" ] && cp "$file" conf; done
for name in attic cache index locks log media media_attic media_meta meta pages tmp; do mkdir "data/$name"; done
mkdir -p wiki/inc
echo "<?php define('DOKU_CONF', '$folder/conf/');" > wiki/inc/preload.php
echo "<?php \$conf['title']='Harbour'; \$conf['savedir']='$folder/data'; \$conf['useacl']=0;" > conf/local.php
echo "====== Harbour ======" > data/pages/start.txt
port=$(php -r '$s = stream_socket_server("tcp://127.0.0.1:0"); echo explode(":", stream_socket_get_name($s, false))[1];')
php -S "127.0.0.1:$port" -t wiki >server.log 2>&1 &
server=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do curl -s "http://127.0.0.1:$port/doku.php" >/dev/null && break; sleep 0.5; done
locks() { find data/locks -name '*.lock' | wc -l; }
{
    curl -s -o read -w 'read %{http_code}, ' "http://127.0.0.1:$port/doku.php?id=start"
    echo "locks $(locks)"
    curl -s -o edit -w 'edit %{http_code}, ' "http://127.0.0.1:$port/doku.php?id=start&do=edit"
    echo "locks $(locks)"
} > seen
cat seen
diff - seen <<'TEXT'
read 200, locks 0
edit 200, locks 1
TEXT
