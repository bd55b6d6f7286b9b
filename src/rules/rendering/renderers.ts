// Selects renderers by tool and model, without changing the tool; and creates output bundles for other programs.
import type { Json, Note, ToolOutput, Renderer } from '../../core/index.ts';
import { renderAs, type RenderFormat } from './formats.ts';

/** Which outputs a renderer applies to, and how it renders them. Fields that are not given match everything; `*` in a name matches any text. */
export type RendererChoice = {
  readonly as: RenderFormat | Renderer;
  readonly tools?: readonly string[];
  readonly models?: readonly string[];
};

/** Returns true if a name matches one of these patterns, in which `*` matches any text. */
const matchesAny = (name: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => new RegExp(`^${pattern.split('*').map(escapeRegExp).join('.*')}$`, 'is').test(name));

const escapeRegExp = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);

/** Creates the renderer of a choice. A format renders the output's data; an output without data stays unchanged. */
export function createRenderer({ as, tools, models }: RendererChoice): Renderer {
  return (output, context) => {
    if (tools && !matchesAny(context.tool, tools)) return undefined;
    if (models && !matchesAny(context.model, models)) return undefined;
    if (typeof as === 'function') return as(output, context);
    return output.data === undefined ? undefined : renderAs(output.data, as);
  };
}

/** The version of the bundle format. */
export const BUNDLE_VERSION = 1;

/** One output with all its renderings, for other programs. */
export type OutputBundle = {
  readonly protocol: typeof BUNDLE_VERSION;
  readonly data: Json;
  readonly renderings: { readonly text: string } & Readonly<Partial<Record<RenderFormat, string>>>;
  readonly notes: readonly Note[];
};

type BundleInput = Pick<ToolOutput, 'text' | 'data' | 'notes'>;

/** Creates a bundle: the data of an output, the tool's own text, the other formats, and its notes. */
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
