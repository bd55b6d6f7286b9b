// Git settings on the command line: they override whatever the user or the repository configures.

/** Settings that override the configuration of the user and of the repository. */
export const safeSettings: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.pager=cat',
  'core.editor=true',
  'core.askPass=',
  'core.quotePath=false',
  'color.ui=false',
  'commit.gpgSign=false',
  'credential.interactive=false',
  'diff.external=',
  'fetch.recurseSubmodules=false',
  'gc.auto=0',
  'log.showSignature=false',
  'maintenance.auto=false',
  'push.gpgSign=false',
  'push.recurseSubmodules=no',
  'safe.bareRepository=explicit',
  'submodule.recurse=false',
];
