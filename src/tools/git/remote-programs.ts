// The program at the other end of a git connection.

/** Sets the program at the other end, whatever the configuration says. In a local folder it would run hooks of that repository, so hooks are disabled. */
export const remoteProgramOptions = (which: 'upload' | 'receive', isLocal: boolean): readonly string[] => [
  `--${which}-pack=${isLocal ? `git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.alternateRefsCommand=true ${which}-pack` : `git-${which}-pack`}`,
];
