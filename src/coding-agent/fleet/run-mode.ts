// The permission mode of a queued run: as strict as the worker demands, or stricter.
import { FairleadError } from '../../core/index.ts';
import { isPermissionMode, isReadingMode, permissionModes, type PermissionMode } from '../../guards/index.ts';

/** The permission mode of a run: `auto` approves changes, unless the worker forbids all of them, and `approve` can only be stricter. */
export function selectRunMode(
  { auto, approve }: { readonly auto?: boolean; readonly approve?: string },
  configured: PermissionMode,
): PermissionMode {
  const allowed = auto === true && !isReadingMode(configured) ? 'auto' : configured;
  if (approve === undefined) return allowed;
  if (!isPermissionMode(approve))
    throw new FairleadError('coding-agent/bad-run', `There is no permission mode ${JSON.stringify(approve)}.`, {
      blame: 'user',
      hint: `The run setting approve is one of ${permissionModes.join(', ')}.`,
    });
  return permissionModes.find((mode) => mode === approve || mode === allowed) ?? allowed;
}
