#!/bin/sh
# Textual: the user's keymap gives an action the key that another action has by default.
# App.handle_bindings_clash is called "each time a clash is encountered".
# Seen: Textual 8.2.8 takes the key from the other action and reports no clash; it reports one only where the keymap gives
# the same key to both. A program that wants to refuse the first keymap must compare the keys itself.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python >/dev/null
python/bin/pip install --quiet --disable-pip-version-check textual==8.2.8 2>/dev/null
cat > read.py <<'PY'
from textual.binding import Binding, BindingsMap

for keymap in ({"scan": "x"}, {"scan": "x", "export": "x"}):
    bindings = BindingsMap([Binding("s", "scan", id="scan"), Binding("x", "export", id="export")])
    clashes = bindings.apply_keymap(keymap).clashed_bindings
    actions = {key: [one.id for one in found] for key, found in bindings.key_to_bindings.items()}
    print(actions, "clashes:", sorted(str(one.id) for one in clashes))
PY
python/bin/python read.py > seen
cat seen
diff - seen <<'TEXT'
{'x': ['scan']} clashes: []
{'x': ['scan', 'export']} clashes: ['export', 'scan']
TEXT
