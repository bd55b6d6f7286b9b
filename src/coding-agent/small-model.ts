// The tools and the system prompt of an embedded model, which is small: few tools that only read, and few words.

/** The tools of an embedded model, which reads slowly and confuses similar tools: reading only, so that a wrong call changes nothing. */
export const selectSmallModelTools = <T extends { readonly name: string }>(tools: readonly T[]): readonly T[] =>
  tools.filter(({ name }) => ['read_file', 'list_files', 'grep'].includes(name));

/** The system prompt of an embedded model: it copies every path that it reads here into its calls. */
export const smallModelPrompt: string =
  'You are a helpful assistant with tools to read and search files. Answer briefly. If you do not know, say so.';
