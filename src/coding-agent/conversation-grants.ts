// Opens the grants of a conversation: those of its session, and those that the user kept for the project it works in.
import { realpathSync } from 'node:fs';
import { sessionGrants, type Grants } from '../guards/index.ts';
import { openConversationState, type ConversationOptions, type ConversationState } from './conversation-state.ts';
import { permissionsFile, type Settings } from './settings/index.ts';

/** Opens the grants of a program without a user to ask: what the user kept for the project of a directory, which only its real path names. */
export async function openKeptGrants(
  { dirs }: Pick<Settings, 'dirs'>,
  cwd: string,
  isUsed: boolean,
  onWarning: (text: string) => void,
): Promise<Grants> {
  const project = realpathSync(cwd);
  const grants = sessionGrants(isUsed ? permissionsFile(dirs.config, () => project, onWarning) : undefined);
  await grants.refresh();
  return grants;
}

/** Opens the state of a conversation with its grants; the project is the working directory, which can change. */
export async function openStateWithGrants(
  options: ConversationOptions,
): Promise<{ readonly grants: Grants; readonly state: ConversationState }> {
  const { settings, host } = options;
  const opened: { state?: ConversationState } = {};
  const project = (): string => opened.state?.agent.workspace.cwd ?? realpathSync(options.cwd ?? process.cwd());
  const grants = sessionGrants(permissionsFile(settings.dirs.config, project, (text) => host.notify(text)));
  await grants.refresh();
  const state = await openConversationState(options, grants);
  opened.state = state;
  return { grants, state };
}
