"""How the page looks: one sheet, for light and dark, for screens and paper. No colour says anything alone."""

from typing import Final

STYLE: Final = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#57606a;--line:#d0d7de;--faint:#f3f5f7;
--s0:#0b62a8;--s1:#b8420b;--s2:#04704f;--s3:#6d3bd1;--s4:#8a5a00;--s5:#b3155e;--none:#b42318}
@media (prefers-color-scheme:dark){:root{--paper:#14171a;--ink:#e6e9ec;--soft:#a2abb4;--line:#3a424a;
--faint:#1d2226;--s0:#6cb6ff;--s1:#ff9b63;--s2:#4fd1a5;--s3:#b79cff;--s4:#e3b341;--s5:#ff8bc1;--none:#ff7b72}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem;max-width:60rem;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .5rem}h2{font-size:1.2rem;margin:2.5rem 0 .5rem}
p{margin:.5rem 0}.soft{color:var(--soft)}code{font:.9em ui-monospace,monospace;overflow-wrap:anywhere}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--soft);padding:.25rem 0}
th,td{padding:.35rem .6rem;border-bottom:1px solid var(--line);text-align:right;vertical-align:top}
th:first-child,td:first-child,.words{text-align:left}.words{overflow-wrap:anywhere;min-width:12rem}
thead th{border-bottom:2px solid var(--soft)}tbody th{font-weight:600}
figure{margin:1rem 0;padding:1rem;border:1px solid var(--line);border-radius:.5rem}
figcaption{margin-bottom:.5rem}figcaption strong{display:block}
svg{display:block;width:100%;min-width:34rem;height:auto;font:13px system-ui,sans-serif}
svg text{fill:var(--ink);unicode-bidi:plaintext}svg .tick{fill:var(--soft);font-size:12px}
svg .axis{stroke:var(--line)}svg .zero{stroke:var(--soft);stroke-dasharray:3 3}
details{margin-top:.75rem}summary{cursor:pointer;color:var(--soft)}
.f0{fill:var(--s0)}.f1{fill:var(--s1)}.f2{fill:var(--s2)}.f3{fill:var(--s3)}.f4{fill:var(--s4)}
.f5{fill:var(--s5)}.l0{stroke:var(--s0)}.l1{stroke:var(--s1)}.l2{stroke:var(--s2)}.l3{stroke:var(--s3)}
.l4{stroke:var(--s4)}.l5{stroke:var(--s5)}.l0,.l1,.l2,.l3,.l4,.l5{stroke-width:2.5;fill:none}
.l1{stroke-dasharray:9 4}.l2{stroke-dasharray:3 3}.l3{stroke-dasharray:12 3 3 3}.l4{stroke-dasharray:6 6}
.l5{stroke-dasharray:2 5}.solid{stroke-dasharray:none}.pale{fill-opacity:.35}
.cell{fill:var(--faint);stroke:var(--line);stroke-width:.5}
.refused{fill:none;stroke:var(--none);stroke-width:1}.missed{fill:var(--none)}
@media print{body{max-width:none;padding:0}details{display:block}figure{break-inside:avoid}}
"""

COLOURS: Final = 6
"""So many profiles have a colour, a shape and a dash of their own."""
