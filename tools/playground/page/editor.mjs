// The editor: C++ with line numbers, and each diagnostic below its line.
import {cpp} from "@codemirror/lang-cpp";
import {syntaxHighlighting} from "@codemirror/language";
import {StateEffect, StateField} from "@codemirror/state";
import {Decoration, ViewPlugin, WidgetType, keymap} from "@codemirror/view";
import {classHighlighter} from "@lezer/highlight";
import {EditorView, basicSetup} from "codemirror";
import {message} from "./messages.mjs";

class Message extends WidgetType {
  constructor(one) {
    super();
    this.one = one;
  }
  eq(other) { return JSON.stringify(this.one) === JSON.stringify(other.one); }
  toDOM() { return message(this.one); }
  ignoreEvent() { return true; }
}

/** A column in bytes, from 1 -> an offset in the document */
function offsetAt(column, line) {
  const bytes = new TextEncoder().encode(line.text).slice(0, column - 1);
  return Math.min(line.from + new TextDecoder().decode(bytes).length, line.to);
}

const setDiagnostics = StateEffect.define();
const diagnosticsField = StateField.define({
  create: () => Decoration.none,
  update(decorations, transaction) {
    decorations = decorations.map(transaction.changes);
    for (const effect of transaction.effects.filter(one => one.is(setDiagnostics))) {
      const {doc} = transaction.state, made = [];
      for (const one of effect.value.filter(one => one.line >= 1 && one.line <= doc.lines)) {
        const line = doc.line(one.line), from = offsetAt(one.column, line), word = /^[\w:]+/.exec(doc.sliceString(from, line.to));
        made.push(Decoration.line({class: `wrong ${one.kind}`}).range(line.from),
                  Decoration.widget({widget: new Message(one), block: true, side: 1}).range(line.to));
        if (word && one.column > 0) { made.push(Decoration.mark({class: "culprit"}).range(from, from + word[0].length)); }
      }
      decorations = Decoration.set(made, true);
    }
    return decorations;
  },
  provide: field => EditorView.decorations.from(field),
});

// The rest of a line that wraps stands to the right of its beginning.
const hangingIndents = view => Decoration.set(view.visibleRanges.flatMap(({from, to}) => {
  const made = [];
  for (let line = view.state.doc.lineAt(from); ; line = view.state.doc.line(line.number + 1)) {
    const columns = /^ */.exec(line.text)[0].length + 4;
    made.push(Decoration.line({attributes: {style: `text-indent: -${columns}ch; padding-left: calc(${columns}ch + 6px)`}}).range(line.from));
    if (line.to >= to) { return made; }
  }
}), true);
const wrapped = ViewPlugin.define(view => ({
  decorations: hangingIndents(view),
  update({docChanged, viewportChanged, view: now}) { if (docChanged || viewportChanged) { this.decorations = hangingIndents(now); } },
}), {decorations: plugin => plugin.decorations});

export class Editor {
  constructor(parent, {changed, run}) {
    this.view = new EditorView({
      parent,
      extensions: [
        keymap.of([{key: "Mod-Enter", run: () => (run(), true)}]), basicSetup, cpp(), syntaxHighlighting(classHighlighter), EditorView.lineWrapping, wrapped,
        diagnosticsField, EditorView.contentAttributes.of({tabindex: "0", "aria-label": "Program"}),
        EditorView.updateListener.of(update => { if (update.docChanged) { changed(); } }),
      ],
    });
  }
  get text() { return this.view.state.doc.toString(); }
  set text(text) { this.view.dispatch({changes: {from: 0, to: this.view.state.doc.length, insert: text}, selection: {anchor: 0}, effects: setDiagnostics.of([])}); }
  show(diagnostics) { this.view.dispatch({effects: setDiagnostics.of(diagnostics)}); }
  /** Scrolls to the line and its message, unless all of it is seen; caret and focus stay */
  reveal(line) {
    const {view} = this, {from} = view.state.doc.line(Math.min(line, view.state.doc.lines));
    view.coordsAtPos(from);  // measures what is drawn, messages too
    const {top, bottom} = view.lineBlockAt(from), box = view.scrollDOM.getBoundingClientRect();
    const seenTop = Math.max(box.top, 0) - view.documentTop, seenBottom = Math.min(box.bottom, innerHeight) - view.documentTop;
    if (top < seenTop || bottom > seenBottom) {
      view.dispatch({effects: EditorView.scrollIntoView(from, {y: "start", yMargin: Math.min(box.height, innerHeight) / 4})});
    }
  }
  goTo(line) {
    const {from} = this.view.state.doc.line(Math.min(line, this.view.state.doc.lines));
    this.view.dispatch({selection: {anchor: from}, effects: EditorView.scrollIntoView(from, {y: "center"})});
    this.view.focus();
  }
}
