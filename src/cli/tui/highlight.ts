// Code in colours: highlight.js, loaded the first time a fence names a language it knows.
import type { HLJSApi, LanguageFn } from 'highlight.js';
import type { TextStyler, TextStyles } from './ansi-style.ts';

type Grammar = () => Promise<{ readonly default: LanguageFn }>;

const GRAMMARS: Readonly<Record<string, Grammar>> = {
  bash: () => import('highlight.js/lib/languages/bash'),
  c: () => import('highlight.js/lib/languages/c'),
  cpp: () => import('highlight.js/lib/languages/cpp'),
  css: () => import('highlight.js/lib/languages/css'),
  diff: () => import('highlight.js/lib/languages/diff'),
  go: () => import('highlight.js/lib/languages/go'),
  java: () => import('highlight.js/lib/languages/java'),
  javascript: () => import('highlight.js/lib/languages/javascript'),
  json: () => import('highlight.js/lib/languages/json'),
  markdown: () => import('highlight.js/lib/languages/markdown'),
  python: () => import('highlight.js/lib/languages/python'),
  rust: () => import('highlight.js/lib/languages/rust'),
  sql: () => import('highlight.js/lib/languages/sql'),
  typescript: () => import('highlight.js/lib/languages/typescript'),
  xml: () => import('highlight.js/lib/languages/xml'),
  yaml: () => import('highlight.js/lib/languages/yaml'),
};
const ALIASES: Readonly<Record<string, string>> = {
  bash: 'sh shell zsh console',
  c: 'h',
  cpp: 'c++ cc hpp',
  diff: 'patch',
  go: 'golang',
  javascript: 'js jsx mjs cjs',
  json: 'json5 jsonc jsonl',
  markdown: 'md',
  python: 'py',
  rust: 'rs',
  typescript: 'ts tsx mts cts',
  xml: 'html svg',
  yaml: 'yml',
};
const NAMES = new Map(
  Object.keys(GRAMMARS).flatMap((name) =>
    [name, ...(ALIASES[name] ?? '').split(' ')].map((alias) => [alias, name] as const),
  ),
);

/** Colours the lines of a piece of code; gives them back as they are until its language is there. */
export type Highlighter = (code: string, lang: string) => readonly string[];

/** A highlighter that calls `ready` when a language arrived and what was laid out before can be laid out better. */
export function createHighlighter(paint: TextStyles, ready: () => void): Highlighter {
  const asked = new Set<string>();
  const known = new Set<string>();
  let engine: HLJSApi | undefined;

  async function load(name: string, grammar: Grammar): Promise<void> {
    const [core, language] = await Promise.all([import('highlight.js/lib/core'), grammar()]);
    engine = core.default;
    engine.registerLanguage(name, language.default);
    known.add(name);
    ready();
  }

  return (code, lang) => {
    const name = lang === '' ? undefined : NAMES.get(lang.toLowerCase());
    const grammar = name === undefined ? undefined : GRAMMARS[name];
    if (name === undefined || grammar === undefined) return code.split('\n');
    if (engine !== undefined && known.has(name)) return highlightCode(engine, code, name, paint);
    if (!asked.has(name)) {
      asked.add(name);
      // Without its grammar code is shown without colours: no harm done.
      void load(name, grammar).catch(() => undefined);
    }
    return code.split('\n');
  };
}

const TOKENS = /<span class="([^"]*)">|<\/span>|&(amp|lt|gt|quot|#x27);|([^<&]+)/g;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" };

// The markup is the engine's own and escapes the code, so that nothing in the code can pass for markup.
function highlightCode(engine: HLJSApi, code: string, language: string, paint: TextStyles): readonly string[] {
  const brushes: (TextStyler | undefined)[] = [];
  const lines = [''];
  let run = '';
  const flush = (): void => {
    const brush = brushes.findLast((one) => one !== undefined);
    for (const [index, part] of run.split('\n').entries()) {
      if (index > 0) lines.push('');
      lines.push(`${lines.pop() ?? ''}${brush === undefined ? part : brush(part)}`);
    }
    run = '';
  };
  const { value } = engine.highlight(code, { language, ignoreIllegals: true });
  for (const [, name, entity, text] of value.matchAll(TOKENS)) {
    run += text ?? ENTITIES[entity ?? ''] ?? '';
    if (text !== undefined || entity !== undefined) continue;
    flush();
    if (name === undefined) brushes.pop();
    else brushes.push(styleForToken(name, paint));
  }
  flush();
  return lines;
}

function styleForToken(names: string, paint: TextStyles): TextStyler | undefined {
  for (const name of names.split(' ')) {
    switch (name) {
      case 'hljs-keyword':
      case 'hljs-literal':
      case 'hljs-selector-tag':
      case 'hljs-tag':
      case 'hljs-name':
        return paint.magenta;
      case 'hljs-string':
      case 'hljs-regexp':
      case 'hljs-addition':
        return paint.green;
      case 'hljs-number':
      case 'hljs-symbol':
      case 'hljs-attr':
      case 'hljs-attribute':
        return paint.yellow;
      case 'hljs-title':
      case 'hljs-section':
      case 'hljs-built_in':
      case 'hljs-type':
        return paint.cyan;
      case 'hljs-comment':
      case 'hljs-quote':
        return paint.dim;
      case 'hljs-deletion':
        return paint.red;
      case 'hljs-meta':
        return paint.blue;
    }
  }
  return undefined;
}
