// The gate that asks before a command installs a package which the project does not use yet.
import { escapeInvisibleLine, isObject, type Gate } from '../../core/index.ts';
import { grantKey, type Grants } from '../grants.ts';
import { formatApprovalPrompt } from '../permission.ts';
import type { PathContext } from './operations.ts';
import { managerPattern } from './package-managers.ts';

/** Adds a question before an unknown package is installed, in every mode and even if a rule allows the command. */
export function packageInstallGate(gate: Gate, grants: Grants, context: PathContext): Gate {
  return async (call, state) => {
    const decision = await gate(call, state);
    if (decision.type === 'deny' || grants.has(grantKey(call, context.locate))) return decision;
    const { command } = isObject(call.input) ? call.input : {};
    // Quotes and backslashes inside a name would hide it from this check, but not from the shell.
    if (typeof command !== 'string' || !managerPattern.test(command.replaceAll(/["'\\]/g, ''))) return decision;
    const { unknownPackages } = await import('./unknown-packages.ts');
    const unknownNames = await unknownPackages(call, context);
    if (unknownNames.length === 0) return decision;
    const warning = `Warning: not in the lockfile or manifest of this project, so the package is new here: ${unknownNames.map(escapeInvisibleLine).join(', ')}.`;
    const question = decision.type === 'ask' ? decision.question : formatApprovalPrompt(call, context.locate);
    return { type: 'ask', question: `${question}\n${warning}` };
  };
}
