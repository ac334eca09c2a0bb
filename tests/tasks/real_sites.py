"""Sites made by software of others, built in a folder and served on loopback.

Each builder needs programs of the system (PHP, npm, a Debian package) or a Python environment with the package; it
raises Missing, which names what is not there.
"""

# ruff: noqa: E501 (files of other projects)

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.error import HTTPError
from urllib.request import urlopen

from tests.loopback import QuietFiles, files_of, free_port, listening

PROSE: Final = (
    "This handbook explains how the lanterns and kettles of the harbour are kept in order, day by day, for everyone "
    "who works on the quay and wants to know more about it."
)
MAIL: Final = "hello@harbour.example"


class Missing(Exception):
    """A program or package that a site is made with is not there."""


class Truth(NamedTuple):
    """What a person with a keyboard and a screen reader can do on a site, in the words of the outcomes."""

    read: str = "done"
    follow: str = "done"
    search: str = "done"
    contact: str = "done"
    form: str = "absent"
    offer: str = "absent"


Serve = Callable[[Path], Any]
"""Builds a site in a folder and serves it: a context manager that yields the port."""


def program(name: str) -> str:
    """Return the path of a program. Raises Missing."""
    found = shutil.which(name)
    if found is None:
        raise Missing(f"{name} on the path")
    return found


def tool(folder: Path, name: str, *packages: str) -> str:
    """Return a program of Python packages, installed beside the site. Raises Missing."""
    place = folder.parent / f"python-{re.split(r'[^a-z-]', packages[0])[0]}"
    if not (place / "bin" / name).exists():
        run(sys.executable, "-m", "venv", str(place))
        run(str(place / "bin" / "pip"), "install", "-q", "--disable-pip-version-check", *packages)
    return str(place / "bin" / name)


def run(*command: str, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> None:
    """Run a command to its end. Raises Missing with the end of what it said when it fails."""
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **(env or {})}, capture_output=True, timeout=900, check=False
    )
    if done.returncode:
        said = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
        raise Missing(f"{Path(command[0]).name} {command[1] if command[1:] else ''}: {said[-1] if said else 'failed'}")


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write text files below ``folder``."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@contextmanager
def static(folder: Path) -> Iterator[int]:
    """Serve a folder; addresses without an ending find the page of that name."""

    class Pages(QuietFiles):
        def translate_path(self, path: str) -> str:
            found = Path(super().translate_path(path))
            page = found.with_name(found.name + ".html")
            return str(page if not found.exists() and page.exists() else found)

    with listening(files_of(folder, Pages)) as server:
        yield server.server_port


@contextmanager
def served(*command: str, port: int, cwd: Path, env: Mapping[str, str] | None = None) -> Iterator[int]:
    """Run a server until the block ends; it is up when it answers a request on ``port``."""
    # a framework may take the variables of a test run for its own tests
    around = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    with (cwd / "server.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=cwd, stdout=log, stderr=log, env={**around, **(env or {})})
        try:
            for _ in range(600):
                try:
                    urlopen(f"http://127.0.0.1:{port}/robots.txt", timeout=5).close()
                except HTTPError:  # a 404 is an answer
                    break
                except OSError:
                    time.sleep(0.1)
                else:
                    break
                if process.poll() is not None:
                    break
            if process.poll() is not None:
                raise Missing(f"{Path(command[0]).name}: {(cwd / 'server.log').read_text()[-300:]}")
            yield port
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()


@dataclass(frozen=True)
class Built:
    """A site that a program builds from ``files`` into the folder ``site``."""

    files: Mapping[str, str]
    build: Callable[[Path], None]
    site: str

    @contextmanager
    def __call__(self, folder: Path) -> Iterator[int]:
        """Write the files, build the site and serve it."""
        write(folder, self.files)
        self.build(folder)
        with static(folder / self.site) as port:
            yield port


def by(line: str, *packages: str) -> Callable[[Path], None]:
    """Return what builds a site by a program of Python packages."""

    def build(folder: Path) -> None:
        name, *words = line.split()
        run(tool(folder, name, *packages), *words, cwd=folder)

    return build


def build_vitepress(folder: Path) -> None:
    run(program("npm"), "install", "--no-audit", "--no-fund", "-D", "vitepress", cwd=folder)
    run(str(folder / "node_modules/.bin/vitepress"), "build", cwd=folder)


def build_jekyll(folder: Path) -> None:
    run(program("jekyll"), "build", "-q", cwd=folder, env={"JEKYLL_NO_BUNDLER_REQUIRE": "1"})


SPHINX: Final = Built(
    {
        "source/conf.py": "project = 'Harbour Handbook'\n",
        "source/index.rst": "Welcome to the harbour\n======================\n\n"
        f"{PROSE}\n\n.. toctree::\n\n   lantern\n   contact\n",
        "source/lantern.rst": "Lantern care\n============\n\nTrim the wick every morning.\n",
        "source/contact.rst": f"Contact\n=======\n\nWrite to {MAIL}.\n",
    },
    by("sphinx-build -q source site", "sphinx"),
    "site",
)
"""Sphinx with its own theme."""


def mkdocs(theme: str) -> Built:
    """MkDocs with a theme."""
    files = {
        "mkdocs.yml": f"site_name: Harbour Handbook\ntheme: {{name: {theme}}}\nplugins: [search]\n",
        "docs/index.md": f"# Welcome to the harbour\n\n{PROSE}\n\n- [Lantern care](lantern.md)\n",
        "docs/lantern.md": "# Lantern care\n\nTrim the wick every morning.\n",
        "docs/contact.md": f"# Contact\n\nWrite to {MAIL}.\n",
    }
    return Built(files, by("mkdocs build -q", "mkdocs", "mkdocs-material"), "site")


VITEPRESS: Final = Built(
    {
        "package.json": '{"private":true,"type":"module"}',
        ".vitepress/config.mjs": "export default {title:'Harbour Handbook',themeConfig:{search:{provider:'local'},"
        "nav:[{text:'Contact',link:'/contact'}],sidebar:[{text:'Lantern care',link:'/lantern'}]}}\n",
        "index.md": f"# Welcome to the harbour\n\n{PROSE}\n\n- [Lantern care](lantern.md)\n",
        "lantern.md": "# Lantern care\n\nTrim the wick every morning.\n",
        "contact.md": f"# Contact\n\nWrite to {MAIL}.\n",
    },
    build_vitepress,
    ".vitepress/dist",
)
"""VitePress with its local search."""
PELICAN: Final = Built(
    {
        "content/lantern.md": f"Title: Lantern care\nDate: 2026-01-01\nCategory: Care\n\nTrim the wick. {PROSE}\n",
        "content/kettle.md": f"Title: Kettle polish\nDate: 2026-01-02\nCategory: Care\n\nPolish it. {PROSE}\n",
        "content/pages/contact.md": f"Title: Contact\n\nWrite to {MAIL}.\n",
        "conf.py": "AUTHOR='Ada'\nSITENAME='Harbour letters'\nSITEURL=''\nPATH='content'\nTIMEZONE='UTC'\n"
        "DEFAULT_LANG='en'\nRELATIVE_URLS=True\n",
    },
    by("pelican content -o site -s conf.py", "pelican[markdown]"),
    "site",
)
"""Pelican: a blog of two articles and a page."""
POST: Final = "---\nlayout: post\ntitle: {}\n---\n\n{} " + PROSE + "\n"
JEKYLL: Final = Built(
    {
        "_config.yml": f"title: Harbour letters\nemail: {MAIL}\ntheme: minima\nexclude: [server.log]\n",
        "index.md": f"---\nlayout: home\n---\n\n{PROSE}\n",
        "about.md": f"---\nlayout: page\ntitle: About\n---\n\n{PROSE}\n",
        "_posts/2026-01-01-lantern-care.md": POST.format("Lantern care", "Trim the wick."),
        "_posts/2026-01-02-kettle-polish.md": POST.format("Kettle polish", "Polish it."),
    },
    build_jekyll,
    "_site",
)
"""Jekyll of the Debian packages with its theme Minima: a blog of two posts and a page about it."""


@contextmanager
def vite(folder: Path) -> Iterator[int]:
    """The start page that Vite makes for React: one page, drawn by a script."""
    npm = program("npm")
    app = folder / "app"
    if not app.exists():
        made = ("create", "-y", "vite@latest", "app", "--", "--template", "react", "--no-interactive")
        run(npm, *made, cwd=folder)
    run(npm, "install", "--no-audit", "--no-fund", cwd=app)
    run(str(app / "node_modules/.bin/vite"), "build", cwd=app)
    with static(app / "dist") as port:
        yield port


@contextmanager
def dokuwiki(folder: Path) -> Iterator[int]:
    """DokuWiki of the Debian package, with a copy of its program and data of its own."""
    home, php = Path("/usr/share/dokuwiki"), program("php")
    if not home.exists():
        raise Missing("the Debian package dokuwiki")
    wiki, conf, data = folder / "wiki", folder / "conf", folder / "data"
    if not wiki.exists():
        shutil.copytree(home, wiki, ignore_dangling_symlinks=True)
        conf.mkdir()
        for file in Path("/etc/dokuwiki").iterdir():
            if file.is_file() and not file.is_symlink() and file.name != "local.php":
                shutil.copy(file, conf)
        for name in [
            "attic",
            "cache",
            "index",
            "locks",
            "log",
            "media",
            "media_attic",
            "media_meta",
            "meta",
            "pages",
            "tmp",
        ]:
            (data / name).mkdir(parents=True)
    write(
        folder,
        {
            "wiki/inc/preload.php": f"<?php define('DOKU_CONF', '{conf}/');\n",
            "conf/local.php": f"<?php $conf['title']='Harbour Wiki'; $conf['savedir']='{data}'; $conf['useacl']=0;\n",
            "data/pages/start.txt": f"====== Welcome to the harbour ======\n{PROSE}\n\n  * [[lantern|Lantern care]]\n"
            "  * [[contact|Contact]]\n",
            "data/pages/lantern.txt": f"====== Lantern care ======\nTrim the wick of every lantern. {PROSE}\n",
            "data/pages/contact.txt": f"====== Contact ======\nWrite to {MAIL}.\n",
        },
    )
    run(php, str(wiki / "bin/indexer.php"), "-q", cwd=wiki)
    port = free_port()
    with served(php, "-S", f"127.0.0.1:{port}", "-t", str(wiki), port=port, cwd=folder) as up:
        yield up


WORDPRESS: Final = """<?php
define('DB_NAME', 'wp'); define('DB_USER', 'root'); define('DB_PASSWORD', ''); define('DB_HOST', 'localhost:%s');
define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', ''); $table_prefix = 'wp_'; define('WP_HTTP_BLOCK_EXTERNAL', true);
define('WP_SITEURL', 'http://shop.demo.test'); define('WP_HOME', 'http://shop.demo.test'); define('DISABLE_WP_CRON', true);
define('WP_CONTENT_DIR', __DIR__ . '/wp-content');
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/'); require_once ABSPATH . 'wp-settings.php';
"""
WORDPRESS_SETUP: Final = """<?php
define('WP_INSTALLING', true); $_SERVER['HTTP_HOST'] = 'shop.demo.test'; $_SERVER['SERVER_PROTOCOL'] = 'HTTP/1.1';
require __DIR__ . '/wp-load.php'; require __DIR__ . '/wp-admin/includes/upgrade.php';
function wp_mail() { return true; }
wp_install('Harbour Letters', 'ada', 'ada@harbour.example', true, '', 'sesame-open-wide');
foreach (['Lantern care' => 'post', 'Kettle polish' => 'post', 'Contact' => 'page'] as $name => $kind)
  wp_insert_post(['post_title' => $name, 'post_type' => $kind, 'post_status' => 'publish', 'post_author' => 1,
    'post_content' => $name === 'Contact' ? 'Write to hello@harbour.example.' : 'Trim the wick every morning. %s']);
"""


@contextmanager
def wordpress(folder: Path) -> Iterator[int]:
    """WordPress of the Debian package with MariaDB, its theme Twenty Twenty-Three, two posts and a page."""
    home, php = Path("/usr/share/wordpress"), program("php")
    theme = Path("/usr/share/wordpress/wp-content/themes/twentytwentythree")
    database, install = program("mariadbd"), program("mariadb-install-db")
    if not (home.exists() and theme.exists()):
        raise Missing("the Debian packages wordpress and wordpress-theme-twentytwentythree")
    site, data, line = folder / "site", folder / "data", folder / "db.sock"
    fresh = not data.exists()
    if fresh:
        shutil.copytree(home, site, ignore_dangling_symlinks=True, dirs_exist_ok=True)
        run(install, "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal", "--user=root")
    write(site, {"wp-config.php": WORDPRESS % line, "setup.php": WORDPRESS_SETUP % PROSE})
    command = (database, "--no-defaults", f"--datadir={data}", f"--socket={line}", "--user=root", "--skip-networking")
    with (folder / "database.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        for _ in range(300):
            if line.exists():
                break
            time.sleep(0.1)
        if fresh:
            client = (program("mariadb"), "--no-defaults", f"--socket={line}", "-uroot")
            run(*client, "-e", "create database if not exists wp")
            run(php, str(site / "setup.php"), cwd=site)
        port = free_port()
        with served(php, "-S", f"127.0.0.1:{port}", "-t", str(site), port=port, cwd=folder) as up:
            yield up
    finally:
        process.terminate()
        process.wait(30)


WAGTAIL_HOME: Final = (
    '{% extends "base.html" %}{% load wagtailcore_tags %}{% block content %}<h1>{{ page.title }}</h1><p>'
    + PROSE
    + '</p><ul>{% for child in page.get_children.live %}<li><a href="{% pageurl child %}">{{ child.title }}</a></li>'
    "{% endfor %}</ul><p><a href=\"{% url 'search' %}\">Search</a></p>{% endblock %}"
)
WAGTAIL_FILL: Final = (
    "from home.models import HomePage\nhome = HomePage.objects.first()\nhome.title = 'Harbour'\nhome.save()\n"
    "for name in ('Lantern care', 'Kettle polish'):\n    home.add_child(instance=HomePage(title=name))\n"
)


@contextmanager
def wagtail(folder: Path) -> Iterator[int]:
    """A Wagtail site as its starter makes it, with a homepage of our own that lists two pages and links its search."""
    start = tool(folder, "wagtail", "wagtail")
    python = str(Path(start).with_name("python"))
    site = folder / "site"
    if not site.exists():
        site.mkdir()
        run(start, "start", "harbour", str(site))
        write(site, {"home/templates/home/home_page.html": WAGTAIL_HOME, "fill.txt": WAGTAIL_FILL})
        run(python, "manage.py", "migrate", "-v", "0", cwd=site)
        run(python, "manage.py", "shell", "-c", WAGTAIL_FILL, cwd=site)
    port = free_port()
    with served(python, "manage.py", "runserver", "--noreload", f"127.0.0.1:{port}", port=port, cwd=site) as up:
        yield up


OSCAR_SETTINGS: Final = """
from oscar.defaults import *

SECRET_KEY, DEBUG, ALLOWED_HOSTS, ROOT_URLCONF = "x", True, ["*"], "urls"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "shop.db", "ATOMIC_REQUESTS": True}}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
STATIC_URL, MEDIA_URL, STATIC_ROOT, SITE_ID, USE_TZ = "/static/", "/media/", "static", 1, True
OSCAR_SHOP_NAME, OSCAR_SHOP_TAGLINE, OSCAR_DEFAULT_CURRENCY = "Lantern shop", "", "EUR"
HAYSTACK_CONNECTIONS = {"default": {"ENGINE": "haystack.backends.whoosh_backend.WhooshEngine", "PATH": "words"}}
INSTALLED_APPS = ["django.contrib." + name for name in
                  ("admin", "auth", "contenttypes", "sessions", "messages", "staticfiles", "sites", "flatpages")] + [
    "oscar.config.Shop", "oscar.apps.analytics.apps.AnalyticsConfig", "oscar.apps.checkout.apps.CheckoutConfig",
    "oscar.apps.address.apps.AddressConfig", "oscar.apps.shipping.apps.ShippingConfig", "oscar.apps.catalogue.apps.CatalogueConfig",
    "oscar.apps.catalogue.reviews.apps.CatalogueReviewsConfig", "oscar.apps.communication.apps.CommunicationConfig",
    "oscar.apps.partner.apps.PartnerConfig", "oscar.apps.basket.apps.BasketConfig", "oscar.apps.payment.apps.PaymentConfig",
    "oscar.apps.offer.apps.OfferConfig", "oscar.apps.order.apps.OrderConfig", "oscar.apps.customer.apps.CustomerConfig",
    "oscar.apps.search.apps.SearchConfig", "oscar.apps.voucher.apps.VoucherConfig", "oscar.apps.wishlists.apps.WishlistsConfig",
    "oscar.apps.dashboard.apps.DashboardConfig", "oscar.apps.dashboard.reports.apps.ReportsDashboardConfig",
    "oscar.apps.dashboard.users.apps.UsersDashboardConfig", "oscar.apps.dashboard.orders.apps.OrdersDashboardConfig",
    "oscar.apps.dashboard.catalogue.apps.CatalogueDashboardConfig", "oscar.apps.dashboard.offers.apps.OffersDashboardConfig",
    "oscar.apps.dashboard.partners.apps.PartnersDashboardConfig", "oscar.apps.dashboard.pages.apps.PagesDashboardConfig",
    "oscar.apps.dashboard.ranges.apps.RangesDashboardConfig", "oscar.apps.dashboard.reviews.apps.ReviewsDashboardConfig",
    "oscar.apps.dashboard.vouchers.apps.VouchersDashboardConfig", "oscar.apps.dashboard.communications.apps.CommunicationsDashboardConfig",
    "oscar.apps.dashboard.shipping.apps.ShippingDashboardConfig", "widget_tweaks", "haystack", "treebeard", "sorl.thumbnail", "django_tables2",
]
MIDDLEWARE = ["django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.csrf.CsrfViewMiddleware",
              "django.contrib.auth.middleware.AuthenticationMiddleware", "django.contrib.messages.middleware.MessageMiddleware",
              "oscar.apps.basket.middleware.BasketMiddleware"]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True, "OPTIONS": {"context_processors": [
    "django.template.context_processors." + name for name in ("request", "debug", "i18n", "media", "static")] + [
    "django.contrib.auth.context_processors.auth", "django.contrib.messages.context_processors.messages",
    "oscar.apps.search.context_processors.search_form", "oscar.apps.checkout.context_processors.checkout",
    "oscar.apps.communication.notifications.context_processors.notifications", "oscar.core.context_processors.metadata"]}}]
AUTHENTICATION_BACKENDS = ["oscar.apps.customer.auth_backends.EmailBackend", "django.contrib.auth.backends.ModelBackend"]
"""
OSCAR_FILL: Final = """
from decimal import Decimal
from oscar.core.loading import get_model
def model(app, name): return get_model(app, name)
model("address", "Country").objects.create(iso_3166_1_a2="FI", name="Finland", printable_name="Finland", is_shipping_country=True)
kind = model("catalogue", "ProductClass").objects.create(name="Lamp", requires_shipping=False)
lamps = model("catalogue", "Category").add_root(name="Lanterns")
partner = model("partner", "Partner").objects.create(name="Harbour")
for number, name in enumerate(("Brass lantern", "Storm lantern", "Copper kettle"), 1):
    product = model("catalogue", "Product").objects.create(title=name, upc=str(number), product_class=kind, description=name + " for the quay. PROSE")
    product.categories.add(lamps)
    model("partner", "StockRecord").objects.create(product=product, partner=partner, partner_sku=str(number), price=Decimal("19.90") + number, num_in_stock=9)
"""


@contextmanager
def oscar(folder: Path) -> Iterator[int]:
    """A shop of django-oscar as its documentation sets it up, with three products and its own templates."""
    python = str(
        Path(tool(folder / "site", "django-admin", "django-oscar[sorl-thumbnail]", "whoosh")).with_name("python")
    )
    site = folder / "site"
    if not site.exists():
        site.mkdir()
        urls = "from django.apps import apps\nfrom django.urls import include, path\n"
        urls += 'urlpatterns = [path("i18n/", include("django.conf.urls.i18n")), path("", include(apps.get_app_config("oscar").urls[0]))]\n'
        manage = 'import os, sys\nos.environ["DJANGO_SETTINGS_MODULE"] = "settings"\n'
        manage += "from django.core.management import execute_from_command_line\nexecute_from_command_line(sys.argv)\n"
        write(site, {"settings.py": OSCAR_SETTINGS, "urls.py": urls, "manage.py": manage})
        run(python, "manage.py", "migrate", "-v", "0", cwd=site)
        run(python, "manage.py", "shell", "-c", OSCAR_FILL.replace("PROSE", PROSE), cwd=site)
        run(python, "manage.py", "rebuild_index", "--noinput", "-v", "0", cwd=site)
    port = free_port()
    with served(python, "manage.py", "runserver", "--noreload", f"127.0.0.1:{port}", port=port, cwd=site) as up:
        yield up


ITEMS: Final = ("Brass lantern", "Storm lantern", "Copper kettle")


@contextmanager
def datasette(folder: Path) -> Iterator[int]:
    """Datasette on one table."""
    with closing(sqlite3.connect(folder / "harbour.db")) as database:
        database.execute("CREATE TABLE IF NOT EXISTS lanterns (id INTEGER PRIMARY KEY, name TEXT, care TEXT)")
        database.executemany("INSERT INTO lanterns (name, care) VALUES (?, ?)", [(name, PROSE) for name in ITEMS])
        database.commit()
    port = free_port()
    command = tool(folder, "datasette", "datasette")
    with served(command, "serve", "harbour.db", "-p", str(port), port=port, cwd=folder) as up:
        yield up


STREAMLIT: Final = f"""
import streamlit as st
st.set_page_config(page_title="Harbour handbook")
st.title("Welcome to the harbour")
st.write({PROSE!r})
st.write("Write to [us](mailto:{MAIL}).")
with st.form("order"):
    st.text_input("Your name")
    st.text_input("Your e-mail address")
    st.checkbox("With a wick")
    if st.form_submit_button("Ask for a lantern"):
        open("orders", "a").write("one")
"""


NICEGUI: Final = f"""
import sys
from nicegui import ui

@ui.page("/")
def home():
    ui.label("Welcome to the harbour").props("role=heading aria-level=1")
    ui.label({PROSE!r})
    ui.link("Lantern care", "/lantern")
    ui.link("Kettle care", "/kettle")
    ui.html("Write to <a href='mailto:{MAIL}'>{MAIL}</a>.", sanitize=False)
    ui.input("Your name")
    ui.input("Your e-mail address")
    ui.checkbox("With a wick")

@ui.page("/lantern")
def lantern():
    ui.html("<h1>Lantern care</h1><p>Trim the wick every morning.</p>", sanitize=False)

@ui.page("/kettle")
def kettle():
    ui.html("<h1>Kettle care</h1><p>Empty it every evening.</p>", sanitize=False)

ui.run(port=int(sys.argv[1]), host="127.0.0.1", reload=False, show=False, title="Harbour handbook")
"""


GRADIO: Final = f"""
import sys
import gradio as gr
with gr.Blocks(title="Harbour handbook") as app:
    gr.Markdown("# Welcome to the harbour\\n\\n" + {PROSE!r} + "\\n\\nWrite to [us](mailto:{MAIL}).")
    name, where = gr.Textbox(label="Your name"), gr.Textbox(label="Your e-mail address")
    wick, out = gr.Checkbox(label="With a wick"), gr.Textbox(label="Answer")
    gr.Button("Ask for a lantern").click(lambda *said: open("orders", "a").write("one"), [name, where, wick], out)
app.launch(server_port=int(sys.argv[1]), server_name="127.0.0.1")
"""


DASH: Final = f"""
import sys
from dash import Dash, dcc, html
app = Dash(title="Harbour handbook")
app.layout = html.Main([
    html.H1("Welcome to the harbour"), html.P({PROSE!r}), html.A("Write to us", href="mailto:{MAIL}"),
    html.Label("Your name", htmlFor="name"), dcc.Input(id="name", type="text"),
    html.Label("Your e-mail address", htmlFor="mail"), dcc.Input(id="mail", type="email"),
    html.Label("Kind of lantern", htmlFor="kind"), dcc.Dropdown(["Brass", "Storm"], id="kind"),
    html.Button("Ask for a lantern", id="go")])
app.run(port=int(sys.argv[1]), debug=False)
"""
SHINY: Final = f"""
from shiny import App, ui
page = ui.page_fluid(
    ui.h1("Welcome to the harbour"), ui.p({PROSE!r}), ui.a("Write to us", href="mailto:{MAIL}"),
    ui.input_text("name", "Your name"), ui.input_text("mail", "Your e-mail address"),
    ui.input_select("kind", "Kind", ["Brass", "Storm"]), ui.input_action_button("go", "Ask for a lantern"),
    title="Harbour handbook")
app = App(page, lambda input, output, session: None)
"""
PANEL: Final = f"""
import panel as pn
pn.extension()
pn.Column("# Welcome to the harbour", {PROSE!r}, "Write to [us](mailto:{MAIL}).", pn.widgets.TextInput(name="Your name"),
  pn.widgets.TextInput(name="Your e-mail address"), pn.widgets.Select(name="Kind", options=["Brass", "Storm"]),
  pn.widgets.Checkbox(name="With a wick"), pn.widgets.Button(name="Ask for a lantern")).servable(title="Harbour handbook")
"""
FLASK_ADMIN: Final = f"""
import sys
from flask import Flask
from flask_admin import Admin
from flask_admin.contrib.sqla import ModelView
from flask_sqlalchemy import SQLAlchemy
app = Flask(__name__)
app.config.update(SECRET_KEY="x", SQLALCHEMY_DATABASE_URI="sqlite://")
db = SQLAlchemy(app)
class Lantern(db.Model):
    id = db.Column(db.Integer, primary_key=True)
    name = db.Column(db.String(40))
    note = db.Column(db.Text)
class View(ModelView):
    column_searchable_list = ["name"]
Admin(app, name="Harbour").add_view(View(Lantern, db.session))
@app.route("/")
def home():
    return '''<!doctype html><html lang=en><title>Harbour handbook</title><main><h1>Welcome to the harbour</h1>
<p>{PROSE}</p><p>Write to {MAIL}.</p><ul><li><a href="/admin/lantern/">Lantern list</a>
<li><a href="/admin/lantern/new/">Create a lantern</a></ul></main></html>'''
with app.app_context():
    db.create_all()
    for name in {ITEMS!r}:
        db.session.add(Lantern(name=name, note=name + " for the quay"))
    db.session.commit()
app.run(port=int(sys.argv[1]))
"""


@dataclass(frozen=True)
class PythonApp:
    """A site of one Python file: the packages that run it, a program of theirs, and how it is started."""

    source: str
    packages: tuple[str, ...]
    program: str
    arguments: str = ""
    """What ``program`` is called with, ``{port}`` for the port; without any, Python runs the file."""

    @contextmanager
    def __call__(self, folder: Path) -> Iterator[int]:
        """Write the file and serve it."""
        write(folder, {"app.py": self.source})
        port = free_port()
        found = tool(folder, self.program, *self.packages)
        python = str(Path(found).with_name("python"))
        command = (
            [found, *self.arguments.format(port=port).split()] if self.arguments else [python, "app.py", str(port)]
        )
        with served(*command, port=port, cwd=folder, env={"GRADIO_ANALYTICS_ENABLED": "False"}) as up:
            yield up


_STREAMLIT_RUN: Final = "run app.py --server.headless true --browser.gatherUsageStats false --server.port {port}"
_PANEL_RUN: Final = "serve app.py --port {port} --index app --allow-websocket-origin shop.demo.test"
# what is typed there goes over a WebSocket, which the fence cuts: nobody can say what a person would see
_LIVE: Final = Truth(follow="absent", search="absent", form="inconclusive")
_PLAIN: Final = Truth(follow="absent", search="absent", form="done")
PYTHON_APPS: Final[Mapping[str, tuple[Serve, Truth]]] = {
    "streamlit": (PythonApp(STREAMLIT, ("streamlit",), "streamlit", _STREAMLIT_RUN), _LIVE),
    "shiny": (PythonApp(SHINY, ("shiny",), "shiny", "run --port {port} app.py"), _PLAIN),
    "panel": (PythonApp(PANEL, ("panel",), "panel", _PANEL_RUN), _PLAIN._replace(form="blocked")),
    "nicegui": (PythonApp(NICEGUI, ("nicegui",), "nicegui-pack"), _LIVE._replace(follow="done")),
    "gradio": (PythonApp(GRADIO, ("gradio",), "gradio"), _PLAIN),
    "dash": (PythonApp(DASH, ("dash",), "dash-generate-components"), _PLAIN),
    "flask-admin": (
        PythonApp(FLASK_ADMIN, ("flask-admin", "flask-sqlalchemy"), "flask"),
        Truth(search="absent", form="done"),
    ),
}


@contextmanager
def nextjs(folder: Path) -> Iterator[int]:
    """The start page that Next.js makes, built to files: its links all lead to other sites."""
    site = folder / "site"
    if not site.exists():
        answers = ("--js", "--app", "--no-tailwind", "--no-eslint", "--no-src-dir", "--use-npm", "--yes")
        run(program("npx"), "--yes", "create-next-app@latest", "site", *answers, cwd=folder)
    layout = "export default ({children}) => <html lang='en'><body>{children}</body></html>\n"  # its own loads fonts
    metadata = "export const metadata = {title: 'Create Next App'}\n"
    write(site, {"next.config.mjs": "export default {output: 'export'}\n", "app/layout.js": metadata + layout})
    run(program("npm"), "run", "build", cwd=site, env={"NEXT_TELEMETRY_DISABLED": "1"})
    with static(site / "out") as port:
        yield port


@contextmanager
def mezzanine(folder: Path) -> Iterator[int]:
    """Mezzanine as its starter makes it, with the pages of its demonstration: a blog, a gallery, a contact form."""
    start = tool(folder, "mezzanine-project", "mezzanine")
    python, site = str(Path(start).with_name("python")), folder / "site"
    if not site.exists():
        site.mkdir()
        run(start, "harbour", str(site), cwd=folder)
        with next(site.glob("*/local_settings.py")).open("a") as settings:
            settings.write('\nALLOWED_HOSTS, DEBUG = ["*"], False\n')  # while it is tried out, robots.txt closes all
        run(python, "manage.py", "createdb", "--noinput", "-v", "0", cwd=site)
    port = free_port()
    command = (python, "manage.py", "runserver", "--noreload", "--insecure", f"127.0.0.1:{port}")
    with served(*command, port=port, cwd=site) as up:
        yield up


# money has no places after the comma where the system has no locale of a country, and tables need two
CARTRIDGE_MONEY: Final = """
ALLOWED_HOSTS, DEBUG = ["*"], False
import locale
locale._override_localeconv = {"frac_digits": 2, "int_frac_digits": 2, "currency_symbol": "€", "int_curr_symbol": "EUR ",
                               "mon_decimal_point": ".", "p_cs_precedes": 1, "n_cs_precedes": 1}
"""


@contextmanager
def cartridge(folder: Path) -> Iterator[int]:
    """A shop of Cartridge as its starter makes it, with the pages and the product of its demonstration."""
    start = tool(folder, "mezzanine-project", "cartridge")
    python, site = str(Path(start).with_name("python")), folder / "site"
    if not site.exists():
        site.mkdir()
        run(start, "-a", "cartridge", "harbour", str(site), cwd=folder)
        with (site / "harbour/local_settings.py").open("a") as settings:
            settings.write(CARTRIDGE_MONEY)
        run(python, "manage.py", "createdb", "--noinput", "-v", "0", cwd=site)
    port = free_port()
    command = (python, "manage.py", "runserver", "--noreload", "--insecure", f"127.0.0.1:{port}")
    with served(*command, port=port, cwd=site) as up:
        yield up


PRETIX_FILL: Final = """
from datetime import timedelta
from decimal import Decimal
from django.utils.timezone import now
from django_scopes import scopes_disabled
from pretix.base.models import Event, Item, Organizer, Quota
from pretix.multidomain.models import KnownDomain
with scopes_disabled():
    harbour = Organizer.objects.create(name="Harbour", slug="harbour")
    KnownDomain.objects.create(domainname="shop.demo.test", organizer=harbour, mode="organizer")
    for name in ("Lantern walk", "Kettle fair"):
        event = Event.objects.create(organizer=harbour, name=name, slug=name.lower().replace(" ", "-"), live=True, is_public=True,
                                     currency="EUR", date_from=now() + timedelta(days=90), plugins="pretix.plugins.banktransfer")
        event.settings.locale, event.settings.locales, event.settings.timezone = "en", ["en"], "Europe/Helsinki"
        event.settings.frontpage_text = "It leads along the quay. Bring a lamp."
        quota = Quota.objects.create(event=event, name="All", size=100)
        for ticket, price in (("Adult ticket", "19.90"), ("Child ticket", "7.50")):
            quota.items.add(Item.objects.create(event=event, name=ticket, default_price=Decimal(price)))
"""


@contextmanager
def pretix(folder: Path) -> Iterator[int]:
    """A ticket shop of pretix with its own templates: two events with two kinds of tickets each."""
    python = str(Path(tool(folder, "django-admin", "pretix")).with_name("python"))
    place, env = f"[pretix]\nurl=http://pretix.demo.test\ndatadir={folder}/data\n", {"PRETIX_CONFIG_FILE": "pretix.cfg"}
    fresh = not (folder / "data").exists()
    write(folder, {"pretix.cfg": place + "[database]\nbackend=sqlite3\n"})
    if fresh:
        (folder / "data").mkdir()
        run(python, "-m", "pretix", "migrate", "-v", "0", cwd=folder, env=env)
        run(python, "-m", "pretix", "shell", "-c", PRETIX_FILL, cwd=folder, env=env)
    port = free_port()
    command = (python, "-m", "pretix", "runserver", "--noreload", f"127.0.0.1:{port}")
    with served(*command, port=port, cwd=folder, env=env) as up:
        yield up


@contextmanager
def docsify(folder: Path) -> Iterator[int]:
    """docsify: Markdown that is drawn in the browser, with its search."""
    run(program("npm"), "install", "--silent", "--prefix", str(folder), "docsify@4")
    site = folder / "site"
    page = """<!doctype html><html lang=en><head><meta charset=utf-8><title>Harbour handbook</title></head><body><div id=app></div>
<script>window.$docsify = {name: "Harbour handbook", loadSidebar: true, search: "auto"}</script>
<script src=/lib/docsify.min.js></script><script src=/lib/search.min.js></script></body></html>"""
    write(
        site,
        {
            "index.html": page,
            "README.md": f"# Welcome to the harbour\n\n{PROSE}\n\n- [Lantern care](lantern.md)\n- [Kettle care](kettle.md)\n",
            "_sidebar.md": "- [Lantern care](lantern.md)\n- [Kettle care](kettle.md)\n- [Contact](contact.md)\n",
            "lantern.md": "# Lantern care\n\nTrim the wick every morning.\n",
            "kettle.md": "# Kettle care\n\nEmpty it every evening.\n",
            "contact.md": f"# Contact\n\nWrite to {MAIL}.\n",
        },
    )
    lib = folder / "node_modules" / "docsify" / "lib"
    (site / "lib").mkdir(exist_ok=True)
    shutil.copy(lib / "docsify.min.js", site / "lib")
    shutil.copy(lib / "plugins" / "search.min.js", site / "lib")
    with static(site) as port:
        yield port


@contextmanager
def mediawiki(folder: Path) -> Iterator[int]:
    """MediaWiki of the Debian package with SQLite, its usual skin, and three pages."""
    home, php = Path("/usr/share/mediawiki"), program("php")
    if not home.exists():
        raise Missing("the Debian package mediawiki")
    site = folder / "site"
    if not site.exists():
        shutil.copytree(home, site, ignore_dangling_symlinks=True)
        (site / "LocalSettings.php").unlink(missing_ok=True)
        options = ("--dbtype=sqlite", f"--dbpath={folder}", "--server=http://shop.demo.test", "--scriptpath=")
        names = ("--skins=Vector", "--pass=sesame-open-wide", "Harbour wiki", "ada")
        run(php, "maintenance/install.php", *options, *names, cwd=site)
        # what is linked to comes first: a link to a page of the same second may stay one to a page that is missing
        for name, text in {
            "Lantern care": f"Trim the wick of every lantern. {PROSE}\n",
            "Kettle care": f"Empty it every evening. {PROSE}\n",
            "Contact": f"Write to {MAIL}.\n",
            "Main Page": f"{PROSE}\n\n* [[Lantern care]]\n* [[Kettle care]]\n* [[Contact]]\n",
        }.items():
            write(folder, {"page.txt": text})
            with (folder / "page.txt").open("rb") as file:
                subprocess.run([php, "maintenance/edit.php", "-u", "ada", name], stdin=file, cwd=site, check=True)
        run(php, "maintenance/rebuildtextindex.php", cwd=site)
    port = free_port()
    with served(php, "-S", f"127.0.0.1:{port}", "-t", str(site), port=port, cwd=folder) as up:
        yield up


@contextmanager
def docusaurus(folder: Path) -> Iterator[int]:
    """Docusaurus as its starter makes it, built to files: documentation and a blog, without a search."""
    site = folder / "site"
    if not site.exists():
        run(program("npx"), "--yes", "create-docusaurus@3", "site", "classic", "--javascript", cwd=folder)
        run(program("npm"), "run", "build", cwd=site)
    with static(site / "build") as port:
        yield port


SITES: Final[Mapping[str, tuple[Serve, Truth]]] = {
    "sphinx": (SPHINX, Truth()),
    "mkdocs": (mkdocs("mkdocs"), Truth()),
    "mkdocs-material": (mkdocs("material"), Truth()),
    "vitepress": (VITEPRESS, Truth()),
    "vite": (vite, Truth(follow="absent", search="absent", contact="absent")),
    "dokuwiki": (dokuwiki, Truth()),
    "wordpress": (wordpress, Truth(search="absent", form="done")),
    "oscar": (oscar, Truth(contact="absent", offer="done")),
    "datasette": (datasette, Truth(search="absent", contact="absent")),
    **PYTHON_APPS,
    "pelican": (PELICAN, Truth(search="absent")),
    "jekyll": (JEKYLL, Truth(search="absent")),
    "next": (nextjs, Truth(follow="absent", search="absent", contact="absent")),
    "mezzanine": (mezzanine, Truth(form="done")),
    "cartridge": (cartridge, Truth(form="done", offer="done")),
    "pretix": (pretix, Truth(search="absent", contact="absent", offer="done")),
    "docsify": (docsify, Truth()),
    "mediawiki": (mediawiki, Truth()),
    "docusaurus": (docusaurus, Truth(search="absent", contact="absent")),
    "wagtail": (wagtail, Truth(search="blocked", contact="absent")),
}
"""Each site with what a person can do on it."""
