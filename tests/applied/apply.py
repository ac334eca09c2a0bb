"""What a plan wrote, put where it says, by a program that does nothing else."""

from __future__ import annotations

import re
from pathlib import Path

from tests.applied.servers import Folder


def apply(folder: Path, site: Folder) -> None:
    """Put every file of ``folder`` where the table of its README says."""
    readme = (folder / "README.md").read_text(encoding="utf-8").partition("| --- | --- |\n")[2]
    table = re.findall(r"^\| ([\w./-]+) \| (.+) \|$", readme, re.MULTILINE)
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert {name for name, _ in table} == files - {"README.md"}
    home = site.root / "index.html"
    for name, place in sorted(table):
        text = (folder / name).read_text(encoding="utf-8")
        group, _, file = name.rpartition("/")
        if group == "homepage":
            home.write_text(_insert(home.read_text(encoding="utf-8"), file, text, place), encoding="utf-8")
        elif group == "server":
            site.install(file, text)
        else:
            assert group in ("", ".well-known"), name
            (site.root / name).parent.mkdir(exist_ok=True)
            (site.root / name).write_text(text, encoding="utf-8")


def _insert(page: str, file: str, text: str, place: str) -> str:
    if "<body>" not in page:
        return _insert_without_tags(page, file, text)
    if file == "head.html":
        assert "before" in place
        return page.replace("</head>", text + "</head>")
    if file == "body-start.html":
        return re.sub(r"<body[^>]*>\n", lambda tag: tag[0] + text, page)
    if file == "body-end.html":
        return page.replace("</body>", text + "</body>")
    if file == "nav.html":
        return re.sub(r"<nav\b[^>]*>", text.splitlines()[-1], page, count=1)
    assert file == "content.html", file
    return re.sub(r'<(div|main) id="root">', lambda tag: f"{tag[0]}\n{text}", page)


def _insert_without_tags(page: str, file: str, text: str) -> str:
    """Put ``text`` where the README says for a page that leaves out the tags of head and body."""
    if file == "head.html":
        return page.replace("</title>", "</title>\n" + text)
    if file == "body-start.html":
        return re.sub(r"^<h1", lambda tag: text + tag[0], page, count=1, flags=re.MULTILINE)
    assert file == "body-end.html", file
    return page + text
