"""Grafana's dashboards of Prism as code. `make dashboards` writes them into deploy/grafana/dashboards."""
