// Creates the provider and the gate of data loss prevention with the policy of the user.
import { isObject, readView, type Gate, type Json, type Provider, type RunState } from '../../core/index.ts';
import { findCommandWaysOut, flowViewName, createFlowLogView, listUserTexts } from '../../guards/flow/index.ts';
import { createDlpGate, createDlpProvider } from '../../guards/dlp/index.ts';
import type { Settings } from '../settings/index.ts';
import { readDlpPolicy } from './read-policy.ts';
import type { DlpGateContext, DlpModel } from './with-dlp.ts';

/** What the provider is created from. */
export type DlpProviderContext = {
  readonly model: DlpModel;
  readonly settings: Settings;
  readonly host: { confirm(question: string): Promise<boolean> };
  readonly isLocal: boolean;
};

/** Creates the provider. The answers of a queued run are read through the server, so they are guarded too. */
export const loadDlpProvider = (provider: Provider, { model, settings, host, isLocal }: DlpProviderContext): Provider =>
  createDlpProvider(provider, {
    policy: readDlpPolicy(settings),
    isLocal,
    to: model.name ?? provider.model,
    confirm: (question) => host.confirm(question),
    guardsAnswers: settings.tenant !== undefined,
  });

/** Creates the gate. */
export const loadDlpGate = ({ settings, tools, permissionMode, isUnattended }: DlpGateContext): Gate =>
  createDlpGate({
    policy: readDlpPolicy(settings),
    tools,
    canAsk: () => !isUnattended || permissionMode() !== 'auto',
    isWayOut,
    isFromUser,
  });

const commandTools: ReadonlySet<string> = new Set(['run_command', 'execute_sandboxed_command']);

/** A command stays here unless it sends, publishes or names an address. */
function isWayOut(tool: string, input: Json): boolean {
  const { command } = isObject(input) ? input : {};
  if (!commandTools.has(tool) || typeof command !== 'string') return true;
  return findCommandWaysOut(command).length > 0 || /[a-z][a-z\d+.-]{0,20}:\/\/|[\w.-]@[\w-]{1,63}\./i.test(command);
}

const flowView = createFlowLogView();

/** Whether the user wrote a value. Without the flow policy this is not known. */
function isFromUser(value: string, state: RunState): boolean {
  if (!state.viewStates.views.some(({ name }) => name === flowViewName)) return false;
  const compact = (text: string): string => text.toLowerCase().replaceAll(/[\s-]/g, '');
  return listUserTexts(readView(state, flowView)).some((text) => compact(text).includes(compact(value)));
}
