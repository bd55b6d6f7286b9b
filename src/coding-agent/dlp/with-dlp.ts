// Applies data loss prevention to a model and to the calls of an agent. The rest is loaded for the first request to a model that is not local, or the first external call that may hold data.
import { existsSync } from 'node:fs';
import type { Gate, Provider, Tool } from '../../core/index.ts';
import type { PermissionMode } from '../../guards/index.ts';
import { hasMarkedValues } from './marked-flag.ts';
import { isLocalModel } from '../private-sessions.ts';
import type { ResolvedModel } from '../models/resolve-model.ts';
import type { Settings } from '../settings/index.ts';

/** The model of a provider, as far as it is known. */
export type DlpModel = Pick<ResolvedModel, 'ref' | 'isDeclaredLocal'> & Pick<Partial<ResolvedModel>, 'name'>;

/** Whether nothing is scanned: the setting is `off`, and no tenant could have another policy. */
const isDisabled = ({ all, tenant }: Settings): boolean => all.get('dlp')?.value === 'off' && tenant === undefined;

/** Whether a gate of this process has loaded the detectors. */
let hasLoadedGate = false;

/** Wraps a model: what the policy redacts in a request to it becomes tokens, and audit facts are recorded with its answers. */
export function withDlp(
  provider: Provider,
  model: DlpModel,
  settings: Settings,
  host: { confirm(question: string): Promise<boolean> },
): Provider {
  if (isDisabled(settings)) return provider;
  let loaded: Promise<Provider> | undefined;
  return {
    ...provider,
    async *stream(request, signal) {
      const isLocal = await isLocalModel({ name: provider.model, ...model }, settings);
      // Without an external call there are no facts to record.
      if (isLocal && settings.tenant === undefined && !hasLoadedGate) return yield* provider.stream(request, signal);
      loaded ??= import('./load-dlp.ts').then((dlp) =>
        dlp.loadDlpProvider(provider, { model, settings, host, isLocal }),
      );
      yield* (await loaded).stream(request, signal);
    },
  };
}

/** Matches every text in which a built-in detector could find something. */
const mayHoldData = /@|\d[ .()\u00a0\u2007-\u2015\u202f\u2212/-]{0,2}\d[ \d.()-]{2}|[\w+/=~!#$%^&*.-]{12}|-----/;

/** What the gate is created from. */
export type DlpGateContext = {
  readonly settings: Settings;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly permissionMode: () => PermissionMode;
  /** Whether no user is present. */
  readonly isUnattended: boolean | undefined;
};

/** The gate of calls with an external effect. Without approvals and without a user, what would be asked is denied. */
export function lazyDlpGate(context: DlpGateContext): readonly Gate[] {
  const { settings, tools } = context;
  if (isDisabled(settings)) return [];
  // Without patterns and values of the user only the built-in detectors decide.
  const isPlain = settings.tenant === undefined && !existsSync(`${settings.dirs.config}/dlp.json`);
  let loaded: Promise<Gate> | undefined;
  return [
    async (call, state) => {
      const effect = tools.get(call.tool)?.effect;
      if (effect === 'read' || effect === 'write') return { type: 'allow' };
      if (isPlain && !hasMarkedValues() && !mayHoldData.test(JSON.stringify(call.input))) return { type: 'allow' };
      hasLoadedGate = true;
      loaded ??= import('./load-dlp.ts').then(({ loadDlpGate }) => loadDlpGate(context));
      return (await loaded)(call, state);
    },
  ];
}
