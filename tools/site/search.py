"""Search of the site: queries with code, and the order of what is found.

The search of MkDocs' theme reads a query as lunr does, where `<`, `:` and `+` have meanings, so that `softmax<key>` finds nothing. search.js makes
words of it first. `finish` leaves pages of sources out of the index and gives each page a weight, which the theme of Debian 12 (8.2.5) does not
read: its worker gets one more argument. Used by tools/site/hooks.py. Why no kept tool: the theme weighs pages from version 8.3, and has no setting for
queries. Standard library only. Not a program.
"""

import json
import re

WEIGHTS = (("source/", 0), ("README", 2), ("index", 2), ("start/", 4), ("tutorial/", 4), ("howto/", 4), ("errors", 3), ("glossary", 3), ("explanation/", 2), ("reference/", 3),
           ("decisions/", .2), ("ARCHITECTURE", .2), ("CONTRIBUTING", .3), ("CHANGELOG", .1))
ADDS = "for(let s of r)this.add(s)"


def weight(location):
    return next((number for start, number in WEIGHTS if location.startswith(start)), 1)


def finish(site, warn):
    path = site / "search/search_index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    index["docs"] = [one | {"boost": weight(one["location"])} for one in index["docs"] if weight(one["location"])]
    path.write_text(json.dumps(index, ensure_ascii=False), encoding="utf-8")
    for worker in site.glob("assets/javascripts/workers/search.*.js"):
        text = worker.read_text(encoding="utf-8")
        if ADDS in text:
            worker.write_text(text.replace(ADDS, "for(let s of r)this.add(s,{boost:s.boost})"), encoding="utf-8")
        elif not re.search(r"\.add\(\w+,\{boost:\w+\.boost\}\)", text):
            warn("%s does not read the weights of pages", worker.name)
