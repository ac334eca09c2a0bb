#!/bin/sh
# llms.txt: a title, a summary as a quote, and sections, as llmstxt.org has them; text between summary and sections is
# optional there.
# Seen: llms-txt 0.0.7 (PyPI), the parser of that site, finds no summary unless a line of text follows the quote: the
# quote is then in `info`, with its mark.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python >/dev/null
python/bin/pip install --quiet --disable-pip-version-check llms-txt==0.0.7 2>/dev/null
cat > read.py <<'PY'
from llms_txt import parse_llms_file
for text in ("", "Read on.\n\n"):
    found = parse_llms_file(f"# Shop\n\n> What it sells.\n\n{text}## Docs\n\n- [Home](https://shop.example/): start\n")
    print(found.summary, "|", found.get("info"))
PY
python/bin/python read.py > seen
cat seen
diff - seen <<'TEXT'
None | > What it sells.
What it sells. | Read on.
TEXT
