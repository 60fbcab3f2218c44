"""Writes deploy/grafana/tidewise.json, a Grafana dashboard: python -m tidewise.dashboard.grafana"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BOARD = Path(__file__).resolve().parent.parent / "deploy" / "grafana" / "tidewise.json"
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
COLUMNS, WIDTH, HEIGHT = 2, 12, 8


@dataclass(frozen=True, slots=True)
class Panel:
    """One graph: queries by legend, a unit, whether the series stack."""

    title: str
    unit: str
    queries: dict[str, str]
    stacked: bool = False
    top: float | None = None


def _quantile(share: str, metric: str, by: str) -> str:
    return f"histogram_quantile({share}, sum by ({by}, le) (rate({metric}_bucket[$__rate_interval])))"


ROUTER = "tidewise_router_queries_total"
WORKER = "tidewise_worker"
PANELS = (
    Panel(
        "Demand and planned demand",
        "reqps",
        {
            "{{application}} arrivals": "sum by (application) (rate(tidewise_router_arrivals_total[$__rate_interval]))",
            "{{application}} planned for": "tidewise_controller_planned_demand_queries_per_second",
        },
    ),
    Panel(
        "Effective accuracy, normalised to each application's best variant",
        "percentunit",
        {
            "{{application}}": "sum by (application) (rate(tidewise_router_on_time_accuracy_total[$__rate_interval]))"
            f' / sum by (application) (rate({ROUTER}{{outcome="on_time"}}[$__rate_interval]))'
        },
        top=1.0,
    ),
    Panel(
        "Violations by kind, share of arrivals",
        "percentunit",
        {
            "{{outcome}}": f'sum by (outcome) (rate({ROUTER}{{outcome!="on_time"}}[$__rate_interval]))'
            f" / ignoring(outcome) group_left sum(rate({ROUTER}[$__rate_interval]))"
        },
        stacked=True,
    ),
    Panel(
        "Which variants answered",
        "reqps",
        {
            "{{application}}/{{variant}}": "sum by (application, variant)"
            " (rate(tidewise_router_answers_total[$__rate_interval]))"
        },
        stacked=True,
    ),
    Panel(
        "Latency at the router",
        "s",
        {
            "{{application}} p50": _quantile("0.5", "tidewise_router_query_seconds", "application"),
            "{{application}} p99": _quantile("0.99", "tidewise_router_query_seconds", "application"),
        },
    ),
    Panel(
        "Where the time goes as the router sees it, mean by stage",
        "s",
        {
            "{{stage}}": "sum by (stage) (rate(tidewise_router_stage_seconds_sum[$__rate_interval]))"
            " / sum by (stage) (rate(tidewise_router_stage_seconds_count[$__rate_interval]))"
        },
        stacked=True,
    ),
    Panel(
        "Where the time goes at workers, mean by stage",
        "s",
        {
            "{{stage}}": f"sum by (stage) (rate({WORKER}_stage_seconds_sum[$__rate_interval]))"
            f" / sum by (stage) (rate({WORKER}_stage_seconds_count[$__rate_interval]))"
        },
        stacked=True,
    ),
    Panel("Queries waiting at workers", "short", {"{{worker}}": f"sum by (worker) ({WORKER}_queue_depth)"}),
    Panel(
        "Mean batch size",
        "short",
        {
            "{{application}}/{{variant}} on {{device_type}}": f"rate({WORKER}_batch_size_sum[$__rate_interval])"
            f" / rate({WORKER}_batch_size_count[$__rate_interval])"
        },
    ),
    Panel(
        "Why batches were started",
        "ops",
        {"{{cause}}": f"sum by (cause) (rate({WORKER}_dispatches_total[$__rate_interval]))"},
        stacked=True,
    ),
    Panel(
        "Busy share of each device",
        "percentunit",
        {"{{worker}}": f"rate({WORKER}_busy_seconds_total[$__rate_interval])"},
        top=1.0,
    ),
    Panel("Hosted variants", "short", {"{{worker}} {{application}}/{{variant}}": f"{WORKER}_hosted"}, stacked=True),
    Panel(
        "Plan version and age",
        "short",
        {"version": "tidewise_controller_plan_version", "age, s": "tidewise_controller_plan_age_seconds"},
    ),
    Panel(
        "Solver",
        "short",
        {
            "gap": "tidewise_controller_solver_gap",
            "phi": "tidewise_controller_plan_phi",
            "solve p95, s": _quantile("0.95", "tidewise_controller_solve_seconds", "instance"),
        },
    ),
    Panel("Load time p95", "s", {"{{variant}}": _quantile("0.95", f"{WORKER}_load_seconds", "variant")}),
    Panel(
        "Why queries were not answered",
        "reqps",
        {"{{reason}}": f'sum by (reason) (rate({ROUTER}{{reason!="none"}}[$__rate_interval]))'},
        stacked=True,
    ),
)


def dashboard() -> dict[str, Any]:
    """The dashboard as Grafana's JSON model."""
    return {
        "title": "Tidewise",
        "uid": "tidewise",
        "tags": ["inference"],
        "schemaVersion": 39,
        "refresh": "5s",
        "time": {"from": "now-15m", "to": "now"},
        "templating": {"list": [{"name": "datasource", "type": "datasource", "query": "prometheus"}]},
        "panels": [_panel(number, one) for number, one in enumerate(PANELS)],
    }


def _panel(number: int, panel: Panel) -> dict[str, Any]:
    row, column = divmod(number, COLUMNS)
    custom = {"fillOpacity": 60 if panel.stacked else 0, "stacking": {"mode": "normal" if panel.stacked else "none"}}
    defaults: dict[str, Any] = {"unit": panel.unit, "min": None if panel.top else 0, "custom": custom}
    if panel.top is not None:
        defaults["max"] = panel.top
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": panel.title,
        "datasource": SOURCE,
        "gridPos": {"x": column * WIDTH, "y": row * HEIGHT, "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "targets": [
            {"refId": chr(ord("A") + index), "datasource": SOURCE, "expr": query, "legendFormat": legend}
            for index, (legend, query) in enumerate(panel.queries.items())
        ],
    }


def text() -> str:
    """The text of deploy/grafana/tidewise.json."""
    return json.dumps(dashboard(), indent=1) + "\n"


if __name__ == "__main__":
    BOARD.parent.mkdir(parents=True, exist_ok=True)
    BOARD.write_text(text(), encoding="utf-8")
