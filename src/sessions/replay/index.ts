// The names of the replay that other modules import.
export { replaySession, type ReplaySessionOptions, type SessionReplay } from './replay-session.ts';
export type { ReplayDifference } from './difference.ts';
export type { ReplayAgent } from './replay-recorded.ts';
export type { ReplayRules } from './recorded-agent.ts';
export type { LiveOptions } from './replay-live.ts';
export { alignSides, type AlignedSides } from './align-sides.ts';
export { formatReplay, formatReplayMarkdown } from './format-replay.ts';
