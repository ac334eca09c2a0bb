#!/bin/sh
# JSON-LD: two script elements, the first of which is broken. Each is a document of its own (JSON-LD 1.1, section 7).
# Seen: extruct 0.18.0 (PyPI) gives none of the blocks of such a page: it raises by default, and with errors="ignore" the
# result has no key "json-ld" at all.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python >/dev/null
python/bin/pip install --quiet --disable-pip-version-check extruct==0.18.0 2>/dev/null
cat > read.py <<'PY'
import extruct
whole = '<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Store"}</script>'
broken = '<script type="application/ld+json">{"@type": "Store",}{</script>'
print(len(extruct.extract(whole, syntaxes=["json-ld"])["json-ld"]))
print(extruct.extract(broken + whole, syntaxes=["json-ld"], errors="ignore"))
try:
    extruct.extract(broken + whole, syntaxes=["json-ld"])
except ValueError as error:
    print(type(error).__name__)
PY
python/bin/python read.py > seen
cat seen
diff - seen <<'TEXT'
1
{}
JSONDecodeError
TEXT
