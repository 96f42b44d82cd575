"""Format an analysis for the terminal."""

from __future__ import annotations

from typing import Any

from correspondence.app.messages import make_safe

__all__ = ["format_components", "format_summary"]


def format_summary(summary: dict[str, Any]) -> str:
    """Format the components, sentences and paths of the summary of an analysis."""
    return "\n".join(
        [
            _format_heading(summary),
            "",
            *format_components(summary["components"]),
            *explain_figures(summary),
            "",
            *(make_safe(sentence) for sentence in summary["sentences"]),
            "",
            f"Written to {make_safe(summary['folder'])}: {', '.join(summary['files'])}",
        ]
    )


def _format_heading(summary: dict[str, Any]) -> str:
    unit = {"pairs": "pairs", "beliefs": "inputs"}.get(summary["form"], "counts")
    how = f"{summary['method']}: {make_safe(summary['reason'])}"
    return f"{make_safe(summary['title'])}, {summary['n']:,.10g} {unit}, {summary['seconds']:.1f} s, {how}."


def format_components(components: list[dict[str, Any]]) -> list[str]:
    """Format the components, one line each."""
    has_held_out = any(c["held_out"] is not None for c in components)
    has_pvalues = any(c["pvalue"] is not None for c in components)
    head = "component     PIC  training" + "  held out".ljust(28) * has_held_out + " p-value" * has_pvalues
    lines = [head.rstrip()]
    for c in components:
        line = f"{c['component']:>9}  {c['pic']:.4f}  {c['training']:>8.4f}"
        if c["held_out"] is not None:
            line += f"  {c['held_out']:.4f} [{c['low']:.4f}, {c['high']:.4f}]".ljust(28)
        elif has_held_out:
            line += "  not judged".ljust(28)
        if c["pvalue"] is not None:
            line += f" {c['pvalue']:>7{'.2g' if c['pvalue'] < 0.0095 else '.3f'}}"
        lines.append(line.rstrip())
    return lines


def explain_figures(summary: dict[str, Any]) -> list[str]:
    """Say why figures are missing, or how many components are significant."""
    if summary["not_held_out"]:
        return [f"No held-out figures: {make_safe(summary['not_held_out'])}."]
    if summary["significant"] is not None:
        n = summary["significant"]
        lines = [f"{n or 'None'} of these {'is' if n <= 1 else 'are'} significant."]
        found = summary["components"][:n]
        if any(c["held_out"] is None for c in found):
            lines.append("Not judged: the functions found from a part of the pairs are constant on the others.")
        if min((c["low"] for c in found if c["low"] is not None), default=1.0) <= 0:
            lines.append("The tests use all pairs, the intervals only those held out, so these are wider.")
        return lines
    return ["Held out: on the true labels, if the model was not trained on these rows."]
