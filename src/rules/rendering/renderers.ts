// How outputs are written down, chosen by tool and by model without touching the tool; and an output as a bundle for other programs.
import type { Json, Note, ToolOutput, Renderer } from '../../core/index.ts';
import { renderAs, type RenderFormat } from './formats.ts';

/** Which outputs a renderer writes down, and how. What is not given binds nothing; `*` in a name stands for anything. */
export type RendererChoice = {
  readonly as: RenderFormat | Renderer;
  readonly tools?: readonly string[];
  readonly models?: readonly string[];
};

/** Whether a name fits one of these patterns, in which `*` stands for anything. */
const matchesAny = (name: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => new RegExp(`^${pattern.split('*').map(escapeRegExp).join('.*')}$`, 'is').test(name));

const escapeRegExp = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);

/** The renderer of a choice. A format writes down the output's data; an output without any stays as its tool wrote it. */
export function createRenderer({ as, tools, models }: RendererChoice): Renderer {
  return (given, about) => {
    if (tools && !matchesAny(about.tool, tools)) return undefined;
    if (models && !matchesAny(about.model, models)) return undefined;
    if (typeof as === 'function') return as(given, about);
    return given.data === undefined ? undefined : renderAs(given.data, as);
  };
}

/** The version of the bundle's form; another form is another number. */
export const BUNDLE_VERSION = 1;

/** One output with all its renderings, for programs that are not this one. */
export type OutputBundle = {
  readonly protocol: typeof BUNDLE_VERSION;
  readonly data: Json;
  readonly renderings: { readonly text: string } & Readonly<Partial<Record<RenderFormat, string>>>;
  readonly notes: readonly Note[];
};

type BundleInput = Pick<ToolOutput, 'text' | 'data' | 'notes'>;

/** An output as a bundle: its data, what the tool wrote, the other forms of the data, and the notes that go with it. */
export const createOutputBundle = ({ text, data, notes = [] }: BundleInput): OutputBundle => ({
  protocol: BUNDLE_VERSION,
  data: data ?? null,
  renderings: {
    text,
    ...(data === undefined
      ? {}
      : { markdown: renderAs(data, 'markdown'), xml: renderAs(data, 'xml'), json: renderAs(data, 'json') }),
  },
  notes,
});
