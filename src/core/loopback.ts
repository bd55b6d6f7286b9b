// Recognizes hosts and URLs of this machine (loopback).

/** Returns true if a host name or IP address (IPv6 with or without brackets) is a loopback address, which no other machine can reach. */
export const isLoopbackHost = (host: string): boolean =>
  /^(?:localhost|127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}|::1|\[::1\])$/i.test(host);

/** Returns true if the host of a URL is a loopback address. Returns false for text that is not a URL. */
export const isLoopbackUrl = (url: string): boolean => isLoopbackHost(URL.parse(url)?.hostname ?? '');
