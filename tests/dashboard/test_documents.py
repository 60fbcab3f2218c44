"""Files made from the catalogue are what the catalogue says today."""

import json
import re

from tidewise.core.metrics_catalogue import CATALOGUE, Kind
from tidewise.dashboard import grafana, metrics_document

SUFFIXES = {Kind.HISTOGRAM: ("_bucket", "_sum", "_count"), Kind.COUNTER: ("",), Kind.GAUGE: ("",)}
EXPORTED = {one.name + suffix: one for one in CATALOGUE for suffix in SUFFIXES[one.kind]}


def test_the_metrics_page_is_fresh():
    assert metrics_document.DOCUMENT.read_text() == metrics_document.document()


def test_the_grafana_dashboard_is_fresh():
    assert grafana.BOARD.read_text() == grafana.text()


def test_the_grafana_dashboard_asks_only_for_exported_metrics_and_their_labels():
    board = json.loads(grafana.BOARD.read_text())
    queries = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    for name in re.findall(r"tidewise_\w+", " ".join(queries)):
        assert name in EXPORTED
    for panel in board["panels"]:
        for target in panel["targets"]:
            offered = {label for name in re.findall(r"tidewise_\w+", target["expr"]) for label in EXPORTED[name].labels}
            assert set(re.findall(r"{{(\w+)}}", target["legendFormat"])) <= offered


def test_the_page_asks_only_for_exported_metrics():
    examples = metrics_document.QUERIES
    assert all(name in EXPORTED for name in re.findall(r"tidewise_\w+", examples))


def test_names_follow_prometheus_habits():
    for one in CATALOGUE:
        assert one.name.endswith("_total") == (one.kind is Kind.COUNTER)
        assert one.help.endswith(".")
