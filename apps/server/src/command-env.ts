/** Environment of stdio commands: an allow list of Loadout's own variables, which never contains a Loadout secret. */

/** Needed to find and run a program. */
const BASE = new Set(['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'LANG', 'TZ', 'TMPDIR'])

/** Certificate and proxy variables in upper and lower case, for installers and servers behind a company proxy. */
const NETWORK = new Set([
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
])

/** Package installer settings: registries, indexes, caches, certificates. */
const INSTALLERS = /^(npm_config|uv|pip)_/i
/** npm settings of the process that started Loadout; they would send another npm to the wrong folder. */
const OF_OUR_RUN =
  /^npm_config_(local_prefix|global_prefix|prefix|user_agent|npm_version|node_gyp|init_module|workspaces?|global|json|argv)$/i

export function commandEnv(
  env: Readonly<Record<string, string | undefined>>,
  { network }: { network: boolean },
): Record<string, string> {
  const isNetwork = (name: string) =>
    NETWORK.has(name.toUpperCase()) || (INSTALLERS.test(name) && !OF_OUR_RUN.test(name))
  const passed: Record<string, string> = {}
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && (BASE.has(name) || (network && isNetwork(name)))) passed[name] = value
  return passed
}
