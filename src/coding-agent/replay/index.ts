// The names of the replay of coding sessions that other modules import.
export { replayCodingSession, type CodingReplayOptions } from './replay-coding-session.ts';
