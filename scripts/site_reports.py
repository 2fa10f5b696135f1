"""A hook of mkdocs: adds interactive reports to the site, made by the binary that was built.

The binary is build/release/bin/rankwright, or that of the variable RANKWRIGHT_BINARY. Without one the site
has a page in their place that says how to make them."""
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
REPORTS = {"course-64": ["examples/course-64.yaml"]}
MISSING = "<!doctype html><title>No report</title><p>Build Rankwright, then the site: the report is made by it."


def on_post_build(config, **_):
    binary = pathlib.Path(os.environ.get("RANKWRIGHT_BINARY", ROOT / "build/release/bin/rankwright"))
    folder = pathlib.Path(config["site_dir"]) / "live"
    folder.mkdir(parents=True, exist_ok=True)
    for name, plan in REPORTS.items():
        page = folder / f"{name}.html"
        command = [binary, "report", *plan, "--quiet", "-o", page]
        # A build without the page (RANKWRIGHT_PAGE=OFF) refuses.
        if not binary.is_file() or subprocess.run(command, cwd=ROOT, stderr=subprocess.DEVNULL).returncode != 0:
            page.write_text(MISSING, "utf-8")
