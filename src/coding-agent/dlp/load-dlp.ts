// Creates the provider and the gate of data loss prevention with the policy of the user.
import type { Gate, Provider } from '../../core/index.ts';
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
  });
