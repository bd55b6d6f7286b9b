// The gate that asks before a command installs a package which the project does not use yet.
import { escapeInvisibleLine, isObject, type Gate } from '../../core/index.ts';
import { grantKey, type Grants } from '../grants.ts';
import { formatApprovalPrompt } from '../permission.ts';
import type { PathContext } from './operations.ts';
import { mayInstallPackages } from './package-names.ts';

/** Adds a question before an unknown package is installed, in every mode and even if a rule allows the command. */
export function packageInstallGate(gate: Gate, grants: Grants, context: PathContext): Gate {
  return async (call, state) => {
    const decision = await gate(call, state);
    if (decision.type === 'deny' || grants.has(grantKey(call, context.locate))) return decision;
    const { command } = isObject(call.input) ? call.input : {};
    if (typeof command !== 'string' || !mayInstallPackages(command)) return decision;
    const { findNewPackages } = await import('./unknown-packages.ts');
    const { unknownNames, doubts } = await findNewPackages(call, context);
    if (unknownNames.length === 0 && doubts.length === 0) return decision;
    const warnings = [
      unknownNames.length > 0 &&
        `Warning: not in the lockfile or manifest of this project, so the package is new here: ${formatList(unknownNames)}.`,
      doubts.length > 0 && `Warning: this may install packages that the project does not use: ${formatList(doubts)}.`,
    ].filter((each) => each !== false);
    const question = decision.type === 'ask' ? decision.question : formatApprovalPrompt(call, context.locate);
    return { type: 'ask', question: [question, ...warnings].join('\n') };
  };
}

const formatList = (texts: readonly string[]): string => texts.map(escapeInvisibleLine).join(', ');
