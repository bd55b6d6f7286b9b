// The tools and the system prompt of an embedded model, which is small: few tools that only read, and few words.
import { formatPromptWithoutTools } from './system-prompt.ts';

/** The tools of an embedded model, which reads slowly and confuses similar tools: reading only, so that a wrong call changes nothing. */
export const selectSmallModelTools = <T extends { readonly name: string }>(tools: readonly T[]): readonly T[] =>
  tools.filter(({ name }) => ['read_file', 'list_files', 'grep'].includes(name));

/** The system prompt of an embedded model with tools, which copies every path of its prompt into its calls, or of a model without tools. */
export const formatReducedPrompt = (cwd: string, callsTools: boolean): string =>
  callsTools
    ? 'You are a helpful assistant with tools to read and search files. Answer briefly. If you do not know, say so.'
    : formatPromptWithoutTools(cwd);
