// Which tools and which system prompt a model gets: an embedded model is small, so it gets few tools and few words.
import type { Provider } from '../core/index.ts';
import type { Settings } from './settings/index.ts';
import { formatPromptWithoutTools, formatSystemPrompt } from './system-prompt.ts';

/** How much a model gets: all tools; the basic ones, for an embedded model with a context window, which calls tools in its own format; those that read, for the smallest; or none. */
export type ModelScope = 'all' | 'basic' | 'reading' | 'none';

/** Returns how much a model gets. */
export function getModelScope(
  { family, contextWindow }: Pick<Provider, 'family' | 'contextWindow'>,
  callsTools: boolean,
): ModelScope {
  if (!callsTools) return 'none';
  if (family !== 'embedded') return 'all';
  return contextWindow === undefined ? 'reading' : 'basic';
}

const toolNames: { readonly [scope in Exclude<ModelScope, 'all'>]: readonly string[] } = {
  basic: ['read_file', 'list_files', 'grep', 'edit_file', 'write_file', 'run_command'],
  // The smallest model confuses similar tools: reading only, so that a wrong call changes nothing.
  reading: ['read_file', 'list_files', 'grep'],
  none: [],
};

/** Returns the tools of a model. An embedded model reads slowly, so it gets few. */
export const selectModelTools = <T extends { readonly name: string }>(
  tools: readonly T[],
  scope: ModelScope,
): readonly T[] => (scope === 'all' ? tools : tools.filter(({ name }) => toolNames[scope].includes(name)));

/** The system prompt of an embedded model, or of a model without tools. The instructions of a project would take it minutes to read. */
export function formatReducedPrompt(scope: ModelScope, cwd: string, { profile }: Pick<Settings, 'profile'>): string {
  if (scope === 'none') return formatPromptWithoutTools(cwd);
  // The smallest model copies every path of its prompt into its calls.
  return scope === 'reading'
    ? 'You are a helpful assistant with tools to read and search files. Answer briefly. If you do not know, say so.'
    : formatSystemPrompt(cwd, profile.product);
}
