// Applies the labels that came with a result to the declaration of its tool: they raise distrust and secrecy always, and lower distrust only if the user trusts their origin.
import type { FlowLabels } from '../../core/index.ts';
import type { OutputDeclaration, ToolDeclaration } from './types.ts';

type Declared = Pick<ToolDeclaration, 'output' | 'private' | 'trustsLabels'>;

/** Returns what is declared of one result. */
export function applyLabels(
  { output = 'untrusted', private: isPrivate = false, trustsLabels = false }: Declared,
  labels: FlowLabels = {},
): Required<Pick<ToolDeclaration, 'output' | 'private'>> {
  return {
    output: applyIntegrity(output, labels, trustsLabels),
    private: isPrivate || labels.confidentiality === 'private',
  };
}

function applyIntegrity(
  output: OutputDeclaration,
  { integrity, fields = {} }: FlowLabels,
  trustsLabels: boolean,
): OutputDeclaration {
  const named = Object.keys(fields);
  const untrusted = named.filter((name) => fields[name] !== 'trusted');
  if (trustsLabels && output === 'untrusted') {
    if (integrity === 'trusted') return untrusted.length > 0 ? { untrusted } : 'trusted';
    // Only the fields that are named as trusted are.
    if (untrusted.length < named.length) return { trusted: named.filter((name) => fields[name] === 'trusted') };
  }
  if (output === 'untrusted' || integrity === 'untrusted') return 'untrusted';
  if (untrusted.length === 0 || output === 'user' || output === 'none') return output;
  if (output === 'trusted') return { untrusted };
  return output.trusted
    ? { trusted: output.trusted.filter((name) => !untrusted.includes(name)) }
    : { ...output, untrusted: [...(output.untrusted ?? []), ...untrusted] };
}
