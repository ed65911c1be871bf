// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/report_page.hpp -- the page of a report: its style and what has no data.
//
// Layer: viz. `report_program` fills it (report_program.hpp).
// Tests: tests/viz/report.test.cpp, tests/viz/report_browser.mjs
#pragma once

namespace dimwise::detail {

inline constexpr const char* report_style = R"(
*{box-sizing:border-box}body.dw{margin:0;background:var(--paper);color:var(--ink);font-size:14px;line-height:1.5}
main{max-width:1080px;margin:0 auto;padding:12px 20px 60px}h1{font-size:22px;margin:18px 0 4px}h2{font-size:16px;
margin:32px 0 8px}
h3{font-size:14px;margin:0 0 6px}p{margin:4px 0 10px;color:var(--soft)}svg.dw{font-size:12px}
.controls{display:flex;flex-wrap:wrap;gap:8px 16px;margin:8px 0}label{color:var(--soft);min-width:0;max-width:100%}
select,button,input{font:inherit;max-width:100%;color:var(--ink);
background:var(--box);border:1px solid var(--line);border-radius:6px;
padding:3px 8px}
button{cursor:pointer}:focus-visible{outline:3px solid var(--heat);outline-offset:1px}
.views{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:24px}
.scroll{max-height:560px;overflow:auto;border:1px solid var(--line);border-radius:8px;padding:8px}
.head{position:relative;display:flex;justify-content:space-between}
.head svg{position:absolute;inset:0;width:100%;height:100%;pointer-events:none}
.tokens{display:flex;flex-direction:column;width:34%;margin:0;padding:0;list-style:none;position:relative}
.tokens>*{height:24px;line-height:24px;padding:0 6px;border:0;background:none;text-align:left;white-space:pre;
overflow:hidden;
text-overflow:ellipsis;border-radius:4px}.queries>*{text-align:right}
.queries>[aria-pressed=true]{background:var(--box);font-weight:700}
canvas{display:block;max-width:100%;height:auto;image-rendering:pixelated;
border:1px solid var(--line);border-radius:4px}
.one{stroke:var(--heat)}.two{stroke:var(--cold)}
.model{display:grid;grid-template-columns:repeat(auto-fill,minmax(136px,1fr));gap:8px}
.model button{display:block;padding:6px;text-align:left;font-size:12px}
.model button[aria-pressed=true]{border-color:var(--heat);border-width:2px}
.model canvas{width:100%;margin-top:4px}
table{border-collapse:collapse}td,th{padding:1px 10px 1px 0;text-align:left;font-weight:400;white-space:pre}
td.bar{width:130px}td.bar i{display:block;height:10px;border-radius:2px;background:var(--heat)}
td.bar i+i{background:var(--cold);margin-top:2px}
pre{overflow:auto;background:var(--box);border:1px solid var(--line);border-radius:8px;padding:10px;
font:12px/1.45 inherit;font-family:inherit}
summary{cursor:pointer;padding:2px 0}details{border-top:1px solid var(--line);padding:4px 0}.wide{overflow-x:auto}
.wide svg.dw{max-width:none!important}
#text{width:100%}#width{width:5em}[aria-invalid]{border-color:var(--k5)}.wrong{color:var(--k5)}
fieldset{display:flex;flex-wrap:wrap;gap:2px 16px;border:1px solid var(--line);border-radius:8px;margin:0}
.next{display:flex;flex-wrap:wrap;gap:6px;margin:0;padding:0;list-style:none}
.next li{border:1px solid var(--line);border-radius:6px;padding:2px 8px;white-space:pre}
.next i{display:block;height:4px;border-radius:2px;background:var(--heat)}
.masks{display:flex;flex-wrap:wrap;gap:24px}.note{min-height:1.5em}
@media print{.controls{display:none}.scroll{max-height:none;overflow:visible}}
)";

// What of the page has no data; the program fills it and hides what stays empty.
inline constexpr const char* report_settings = R"(
<section id="live" aria-labelledby="live-title"><h2 id="live-title">Try it</h2><p id="how"></p>
<div class="controls"><label>stored run <select id="run"></select></label></div>
<div class="settings" hidden><label for="text" id="label"></label>
<input id="text" type="text" spellcheck="false" autocomplete="off" autocapitalize="off" aria-describedby="said hint">
</div><p class="note" id="said" role="status"></p><div class="settings" hidden><p id="hint"></p>
<div class="controls"><label>mask <select id="mask"><option>causal</option><option>none</option>
<option>window</option></select></label>
<label id="window">keys in a window <input id="width" type="number" min="1" aria-describedby="said"></label></div>
<fieldset id="switches"><legend>Heads. One that is off gives zero.</legend></fieldset></div></section>
)";
inline constexpr const char* report_body = R"(
<section id="predictions" aria-labelledby="next-title"><h2 id="next-title">What comes next</h2>
<p>Behind each position: what the model expects there, and its probability; ✓ where that is what follows.</p>
<div id="next"></div></section>
<section id="weights" aria-labelledby="weights-title"><h2 id="weights-title">Weights</h2>
<p>Choose a layer and a head. Point at a word on the left, or reach it by Tab and the arrow keys, to see what it
looks at.</p>
<div class="controls"><label>layer <select id="layer"></select></label><label>head <select id="head"></select></label>
<label>compare with <select id="other"></select></label></div>
<div class="views"><div><h3 id="head-title">Head view</h3><div class="scroll"><div class="head">
<svg aria-hidden="true" id="lines"></svg><div class="tokens queries" id="queries" role="group"
aria-label="queries"></div>
<div class="tokens" id="keys" aria-hidden="true"></div></div></div></div>
<div><h3>All queries and keys</h3><canvas id="matrix" role="img"></canvas><p class="note" id="cell"></p>
<h3 id="row-title"></h3><div id="looks"><table id="row"></table><p id="expects"></p></div></div></div>
<h2>Model view</h2><p>Every head of every layer. A square is the stronger the larger the weight; rows are queries.</p>
<div class="model" id="model"></div></section>
<section id="masks" aria-labelledby="masks-title"><h2 id="masks-title">Masks, as the kernels see them</h2>
<p>Full: visible. Empty: hidden.</p><div class="masks" id="mask-list"></div></section>
<section id="steps" aria-labelledby="steps-title"><h2 id="steps-title">The tensor at each step</h2><div
id="step-list"></div></section>
)";

}  // namespace dimwise::detail
