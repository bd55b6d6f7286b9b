// Texts that tell the model its permission mode: once when changes are forbidden, and once when they are allowed again.
import type { PermissionMode } from '../guards/index.ts';

/** The key of the annotation that records a change of the permission mode. */
export const permissionModeKey = 'permission-mode';

/** The text for the modes that forbid changes. */
const modeInstructions: Partial<Record<PermissionMode, string>> = {
  'read-only': 'The permission mode is read-only: change nothing. Only reading tools and commands that read can run.',
  plan: 'The permission mode is plan: change nothing. Read what you need, then answer with a plan: the steps as one numbered list, the files, and how to check the result. The user decides whether it is carried out.',
};

/** Tracks the mode that the model knows; returns the text for a new mode, if there is one. */
export function createModeInstructions(): (mode: PermissionMode) => string | undefined {
  let told: PermissionMode | undefined;
  return (mode) => {
    if (mode === told) return undefined;
    const text =
      modeInstructions[mode] ?? (told === undefined ? undefined : 'The permission mode allows changes again.');
    told = modeInstructions[mode] === undefined ? undefined : mode;
    return text;
  };
}
