// Fairlead inside somebody else's loop: the guide that every bridge stands on.
export { type Addition } from './guide/given.ts';
export {
  openGuide,
  type Answered,
  type Asked,
  type Guidance,
  type Guide,
  type GuideOptions,
  type Refused,
} from './guide/guide.ts';
export { looksFailed, type FailureTest } from './guide/taking-in.ts';
