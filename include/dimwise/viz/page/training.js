R"js(
"use strict";
// The page loads itself again while the training runs, unless the reader has paused it, selects text, or looks elsewhere.
(() => {
const state = document.getElementById("state"), pause = document.getElementById("pause");
const {written, interval} = state.dataset, said = document.getElementById("written");
const memory = {
  get paused() { try { return sessionStorage.getItem("paused") === "1"; } catch { return false; } },
  set paused(v) { try { sessionStorage.setItem("paused", v ? "1" : "0"); } catch { /* forgotten on reload */ } },
};
let paused = memory.paused;
const began = Date.now();
function tell() {
  const age = Math.max(0, Math.round((Date.now() - written) / 1000));
  const when = `Written at ${new Date(+written).toLocaleTimeString()}`;
  const late = interval && age > 60 + 10 * interval;
  said.textContent = interval ? `${when}, ${age} s ago.` : `${when}.`;
  if (late) said.textContent += " The training may have stopped, or a step takes long.";
  said.className = late ? "note wrong" : "note";
  pause.hidden = !interval;
  pause.setAttribute("aria-pressed", paused);
  const busy = paused || document.hidden || !getSelection().isCollapsed;
  if (interval && !busy && Date.now() - began >= 1000 * interval) location.reload();
}
pause.onclick = () => { memory.paused = paused = !paused; tell(); };
tell();
setInterval(tell, Math.min(1000, 1000 * (interval || 1)));
})();
)js"
