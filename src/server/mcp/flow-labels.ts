// The labels that our MCP server writes into `_meta.ifc`, by the declarations of the tools: what is not declared is untrusted and private.
import type { Tool } from '../../core/index.ts';
import { builtinDeclarations } from '../../guards/flow/index.ts';

/** The labels of a tool or a result on the wire. */
export type WireLabels = {
  readonly ifc: { readonly integrity: 'trusted' | 'untrusted'; readonly confidentiality: 'public' | 'private' };
};

/** The labels of an answer of a complete run: the model read files and pages to write it. */
export const runAgentLabels: WireLabels = { ifc: { integrity: 'untrusted', confidentiality: 'private' } };

/** Returns the labels of a tool. Only pages of the web are public: everything else is from the folder of the user. */
export function toolLabels({ name, untrustedOutput }: Pick<Tool, 'name' | 'untrustedOutput'>): WireLabels {
  const declaration = builtinDeclarations.tools.get(name);
  const isTrusted = declaration?.output === 'trusted' && untrustedOutput !== true;
  const isPublic = declaration?.action === 'visit' && declaration.private !== true;
  return {
    ifc: { integrity: isTrusted ? 'trusted' : 'untrusted', confidentiality: isPublic ? 'public' : 'private' },
  };
}
