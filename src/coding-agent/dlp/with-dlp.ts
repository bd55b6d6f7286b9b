// Applies data loss prevention to a model and to the calls of an agent. The detectors are loaded for the first request to a model that is not local, or the first external call.
import type { Gate, Json, Provider, Tool } from '../../core/index.ts';
import type { PermissionMode } from '../../guards/index.ts';
import type { DlpAction } from '../../guards/dlp/index.ts';
import type { ModelHost } from '../models/open-model.ts';
import type { ResolvedModel } from '../models/resolve-model.ts';
import type { Settings } from '../settings/index.ts';

/** Whether no way of this process is scanned: the setting is `off`, and no tenant could have another policy. */
const isDisabled = ({ all, tenant }: Settings): boolean => {
  const action = all.get('dlp')?.value as DlpAction | undefined;
  return action === 'off' && tenant === undefined;
};

/** Wraps a model: what the policy redacts in a request to it becomes tokens, and audit facts are recorded with its answers. */
export function withDlp(
  provider: Provider,
  model: Pick<ResolvedModel, 'ref' | 'isDeclaredLocal'> & Pick<Partial<ResolvedModel>, 'name'>,
  settings: Settings,
  host: Pick<ModelHost, 'confirm'>,
): Provider {
  if (isDisabled(settings)) return provider;
  let loaded: Promise<Provider> | undefined;
  const load = async (): Promise<Provider> => {
    const { isLocalModel } = await import('../private-sessions.ts');
    const isLocal = await isLocalModel({ name: provider.model, ...model }, settings);
    if (isLocal && settings.tenant === undefined) return withAuditFacts(provider);
    const { createDlpProvider } = await import('../../guards/dlp/index.ts');
    const { readDlpPolicy } = await import('./read-policy.ts');
    return createDlpProvider(provider, {
      policy: readDlpPolicy(settings),
      isLocal,
      to: model.name ?? provider.model,
      confirm: (question) => host.confirm(question),
      // The answers of a queued run are read through the server.
      guardsAnswers: settings.tenant !== undefined,
    });
  };
  return {
    ...provider,
    async *stream(request, signal) {
      loaded ??= load();
      yield* (await loaded).stream(request, signal);
    },
  };
}

/** Records the audit facts of gates with the answers of a model whose requests are not scanned. */
const withAuditFacts = (provider: Provider): Provider => ({
  ...provider,
  async *stream(request, signal) {
    for await (const chunk of provider.stream(request, signal)) {
      if (chunk.type !== 'end') {
        yield chunk;
        continue;
      }
      const { dlpAuditKey, processAudit } = await import('../../guards/dlp/audit.ts');
      const annotations = processAudit
        .take(request.session)
        .map((value) => ({ key: dlpAuditKey, value: value as unknown as Json }));
      yield annotations.length === 0 ? chunk : { ...chunk, annotations };
    }
  },
});

/** What the gate is created from. */
export type DlpGateContext = {
  readonly settings: Settings;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly permissionMode: () => PermissionMode;
  /** Whether no user is present. */
  readonly isUnattended: boolean | undefined;
};

/** The gate of calls with an external effect. Without approvals and without a user, what would be asked is denied. */
export function lazyDlpGate({ settings, tools, permissionMode, isUnattended }: DlpGateContext): readonly Gate[] {
  if (isDisabled(settings)) return [];
  let loaded: Promise<Gate> | undefined;
  const load = async (): Promise<Gate> => {
    const { createDlpGate } = await import('../../guards/dlp/index.ts');
    const { readDlpPolicy } = await import('./read-policy.ts');
    return createDlpGate({
      policy: readDlpPolicy(settings),
      tools,
      canAsk: () => !isUnattended || permissionMode() !== 'auto',
    });
  };
  return [
    async (call, state) => {
      const effect = tools.get(call.tool)?.effect;
      if (effect === 'read' || effect === 'write') return { type: 'allow' };
      loaded ??= load();
      return (await loaded)(call, state);
    },
  ];
}
