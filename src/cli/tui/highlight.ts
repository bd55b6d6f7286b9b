// Syntax highlighting with highlight.js, which loads when a code fence first names a supported language.
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

// The time of some grammars grows with the square of the length of the code.
const MAX_CODE_CHARS = 16_000;

/** Highlights the lines of a piece of code; returns them unchanged until the language is loaded. */
export type Highlighter = (code: string, lang: string) => readonly string[];

/** Creates a highlighter; it calls `onLoaded` when a language has loaded, so that the caller can lay out again. */
export function createHighlighter(styles: TextStyles, onLoaded: () => void): Highlighter {
  const requested = new Set<string>();
  const loaded = new Set<string>();
  let engine: HLJSApi | undefined;

  async function load(name: string, grammar: Grammar): Promise<void> {
    const [core, language] = await Promise.all([import('highlight.js/lib/core'), grammar()]);
    engine = core.default;
    engine.registerLanguage(name, language.default);
    loaded.add(name);
    onLoaded();
  }

  return (code, lang) => {
    const name = lang === '' ? undefined : NAMES.get(lang.toLowerCase());
    const grammar = name === undefined ? undefined : GRAMMARS[name];
    if (name === undefined || grammar === undefined || code.length > MAX_CODE_CHARS) return code.split('\n');
    if (engine !== undefined && loaded.has(name)) return highlightCode(engine, code, name, styles);
    if (!requested.has(name)) {
      requested.add(name);
      // If the grammar does not load, the code is shown without colors.
      void load(name, grammar).catch(() => undefined);
    }
    return code.split('\n');
  };
}

const TOKENS = /<span class="([^"]*)">|<\/span>|&(amp|lt|gt|quot|#x27);|([^<&]+)/g;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" };

// The markup comes from highlight.js, which escapes the code: nothing in the code is read as markup.
function highlightCode(engine: HLJSApi, code: string, language: string, styles: TextStyles): readonly string[] {
  const stylers: (TextStyler | undefined)[] = [];
  const lines = [''];
  let run = '';
  const flush = (): void => {
    const styler = stylers.findLast((one) => one !== undefined);
    for (const [index, part] of run.split('\n').entries()) {
      if (index > 0) lines.push('');
      lines.push(`${lines.pop() ?? ''}${styler === undefined ? part : styler(part)}`);
    }
    run = '';
  };
  const { value } = engine.highlight(code, { language, ignoreIllegals: true });
  for (const [, name, entity, text] of value.matchAll(TOKENS)) {
    run += text ?? ENTITIES[entity ?? ''] ?? '';
    if (text !== undefined || entity !== undefined) continue;
    flush();
    if (name === undefined) stylers.pop();
    else stylers.push(styleForToken(name, styles));
  }
  flush();
  return lines;
}

function styleForToken(names: string, styles: TextStyles): TextStyler | undefined {
  for (const name of names.split(' ')) {
    switch (name) {
      case 'hljs-keyword':
      case 'hljs-literal':
      case 'hljs-selector-tag':
      case 'hljs-tag':
      case 'hljs-name':
        return styles.magenta;
      case 'hljs-string':
      case 'hljs-regexp':
      case 'hljs-addition':
        return styles.green;
      case 'hljs-number':
      case 'hljs-symbol':
      case 'hljs-attr':
      case 'hljs-attribute':
        return styles.yellow;
      case 'hljs-title':
      case 'hljs-section':
      case 'hljs-built_in':
      case 'hljs-type':
        return styles.cyan;
      case 'hljs-comment':
      case 'hljs-quote':
        return styles.dim;
      case 'hljs-deletion':
        return styles.red;
      case 'hljs-meta':
        return styles.blue;
    }
  }
  return undefined;
}
