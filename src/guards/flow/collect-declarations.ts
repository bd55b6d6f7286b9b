// Collects the declarations of all tools of an agent, and where each comes from: the files of the user, those written for known tools and servers, and automatic ones for the rest.
import type { Tool } from '../../core/index.ts';
import { builtinDeclarations, mergeDeclarations } from './builtin-declarations.ts';
import type { FlowDeclarations, ToolDeclaration } from './types.ts';

/** Where a declaration comes from: part of the program for its own tools, written for a known server, a file of the user or of a project, or made from the name and the schema. */
export type DeclarationOrigin = 'built-in' | 'written' | 'file' | 'automatic';

/** A declaration and its origin. */
export type CollectedDeclaration = {
  readonly tool: string;
  readonly origin: DeclarationOrigin;
  readonly declaration: ToolDeclaration;
};

/** Declarations of all tools, with their origins. */
export type CollectedDeclarations = FlowDeclarations & { readonly collected: readonly CollectedDeclaration[] };

/** Collects the declarations of these tools. A file replaces what was written, and what was written replaces an automatic declaration. */
export async function collectDeclarations({
  tools,
  declarations,
}: {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly declarations?: FlowDeclarations | undefined;
}): Promise<CollectedDeclarations> {
  const fromServers = [...tools.values()].filter(({ hints }) => hints?.isOwn);
  // Most runs have built-in tools only.
  const written: FlowDeclarations =
    fromServers.length === 0
      ? { tools: new Map(), actions: new Map() }
      : await (await import('./server-declarations.ts')).findWrittenDeclarations(fromServers);
  const all = mergeDeclarations(written, builtinDeclarations, ...(declarations ? [declarations] : []));
  const others = [...tools.values()].filter(({ name }) => !all.tools.has(name));
  const { declareTool } = others.length === 0 ? {} : await import('./declare-tool.ts');
  const automatic = others.flatMap((tool) => (declareTool ? [[tool.name, declareTool(tool)] as const] : []));
  const merged = new Map([...automatic, ...all.tools]);
  const originOf = (tool: string): DeclarationOrigin =>
    declarations?.tools.has(tool)
      ? 'file'
      : builtinDeclarations.tools.has(tool)
        ? 'built-in'
        : written.tools.has(tool)
          ? 'written'
          : 'automatic';
  return {
    tools: merged,
    actions: all.actions,
    collected: [...merged].map(([tool, declaration]) => ({ tool, origin: originOf(tool), declaration })),
  };
}
