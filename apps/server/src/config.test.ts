import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readConfig } from './config.ts'

const KEY = 'q83vEjRWeJq83vEjRWeJq83vEjRWeJq83vEjRWeJq80='
const TEMPLATES = fileURLToPath(new URL('../package.json', import.meta.url))
const MULTI = { LOADOUT_MODE: 'multi-user', DATABASE_URL: 'postgres://u@h/d', LOADOUT_MASTER_KEY: KEY }

describe('the settings', () => {
  it('are local and safe by default', () => {
    expect(readConfig({})).toMatchObject({
      mode: 'local',
      port: 4300,
      hostname: '127.0.0.1',
      stdio: 'on',
      privateNetwork: true,
      toolCacheTtlMs: 3_600_000,
    })
  })

  it('are strict in multi-user mode', () => {
    expect(readConfig(MULTI)).toMatchObject({
      mode: 'multi-user',
      hostname: '0.0.0.0',
      stdio: 'off',
      privateNetwork: false,
    })
  })

  it('define sign-in, and disable sign-up without a provider', () => {
    expect(readConfig(MULTI)).toMatchObject({ proxies: 0, sessionMs: 604_800_000, signUp: false, oidc: undefined })
    const provider = {
      LOADOUT_OIDC_ISSUER: 'https://login.example',
      LOADOUT_OIDC_CLIENT_ID: 'loadout',
      LOADOUT_OIDC_CLIENT_SECRET: 's',
    }
    expect(readConfig({ ...MULTI, ...provider, LOADOUT_SIGN_UP: 'on', LOADOUT_PROXIES: '1' })).toMatchObject({
      proxies: 1,
      signUp: true,
      oidc: { issuer: 'https://login.example', clientId: 'loadout', name: 'login.example', trustEmail: false },
    })
    const readingOf = (env: Record<string, string>) => () => readConfig({ ...MULTI, ...env })
    expect(readingOf({ LOADOUT_SIGN_UP: 'on' })).toThrow(/LOADOUT_SIGN_UP needs LOADOUT_OIDC_ISSUER/)
    expect(readingOf({ ...provider, LOADOUT_OIDC_CLIENT_SECRET: '' })).toThrow(/LOADOUT_OIDC_CLIENT_SECRET is needed/)
    expect(readingOf({ ...provider, LOADOUT_OIDC_CLIENT_ID: '' })).toThrow(/LOADOUT_OIDC_CLIENT_ID is needed/)
    expect(readingOf({ LOADOUT_SESSION_MS: '5' })).toThrow(/LOADOUT_SESSION_MS/)
  })

  it('list the models that the app pays for, with globs', () => {
    expect(readConfig({}).models).toEqual([])
    const LOADOUT_MODELS = 'anthropic:claude-*, openai:{gpt-5,gpt-5-mini},openai-compatible:qwen/*'
    expect(readConfig({ LOADOUT_MODELS }).models).toEqual([
      'anthropic:claude-*',
      'openai:{gpt-5,gpt-5-mini}',
      'openai-compatible:qwen/*',
    ])
  })

  it('set the maximum steps and tokens per answer if the operator configures them', () => {
    expect(readConfig({}).ceiling).toEqual({ maxSteps: undefined, budget: undefined })
    const env = { LOADOUT_MAX_STEPS_PER_ANSWER: '5', LOADOUT_MAX_TOKENS_PER_ANSWER: '50000' }
    expect(readConfig(env).ceiling).toEqual({ maxSteps: 5, budget: 50_000 })
  })

  it('set the maximum server response size if the operator configures it', () => {
    expect(readConfig({}).maxResponseBytes).toBeUndefined()
    expect(readConfig({ LOADOUT_MAX_RESPONSE_BYTES: '20000000' }).maxResponseBytes).toBe(20_000_000)
  })

  it('set the package sources and the resource limits of sandboxes', () => {
    const { sandbox } = readConfig({
      LOADOUT_PYPI_INDEX: 'https://index.example/simple',
      LOADOUT_PYPI_FILE_HOSTS: 'files.example, *.mirror.example:8443',
      LOADOUT_SANDBOX_MAX_BYTES: '4000000000',
      LOADOUT_SANDBOX_CGROUPS: 'required',
    })
    expect(sandbox).toMatchObject({
      pypiIndex: 'https://index.example/simple',
      pypiFileHosts: ['files.example', '*.mirror.example:8443'],
      packagesBytes: 4_000_000_000,
      cgroups: 'required',
    })
    expect(readConfig({}).sandbox.cgroups).toBe(true)
    expect(readConfig({ LOADOUT_SANDBOX_CGROUPS: 'off' }).sandbox.cgroups).toBe(false)
  })

  it('list the private hosts that may be reached', () => {
    expect(readConfig({}).privateHosts).toEqual([])
    expect(readConfig({ LOADOUT_PRIVATE_HOSTS: 'sso.corp, 10.1.0.0/16' }).privateHosts).toEqual([
      'sso.corp',
      '10.1.0.0/16',
    ])
  })

  const bad: Record<string, [env: Record<string, string>, name: string]> = {
    'a port that is no number': [{ PORT: 'http' }, 'PORT'],
    'a port out of range': [{ PORT: '70000' }, 'PORT'],
    'an unknown mode': [{ LOADOUT_MODE: 'cluster' }, 'LOADOUT_MODE'],
    'a local host that others reach': [{ HOST: '0.0.0.0' }, 'HOST'],
    'many users without a database': [{ LOADOUT_MODE: 'multi-user', LOADOUT_MASTER_KEY: KEY }, 'DATABASE_URL'],
    'many users without a key': [
      { LOADOUT_MODE: 'multi-user', DATABASE_URL: 'postgres://u@h/d' },
      'LOADOUT_MASTER_KEY',
    ],
    'no passwords and no provider': [{ LOADOUT_MODE: 'multi-user', LOADOUT_PASSWORDS: 'off' }, 'LOADOUT_PASSWORDS'],
    'a database of another kind': [{ DATABASE_URL: 'mysql://h/d' }, 'DATABASE_URL'],
    'a short bootstrap key': [{ LOADOUT_BOOTSTRAP_KEY: 'short' }, 'LOADOUT_BOOTSTRAP_KEY'],
    'a public URL that is none': [{ LOADOUT_PUBLIC_URL: 'loadout.example' }, 'LOADOUT_PUBLIC_URL'],
    'an unknown stdio policy': [{ LOADOUT_STDIO: 'maybe' }, 'LOADOUT_STDIO'],
    'templates that are not there': [{ LOADOUT_STDIO_TEMPLATES: '/no/such/file' }, 'LOADOUT_STDIO_TEMPLATES'],
    'templates that are none': [{ LOADOUT_STDIO_TEMPLATES: TEMPLATES }, 'LOADOUT_STDIO_TEMPLATES'],
    'a sandbox in no folder': [{ LOADOUT_SANDBOX_DIR: 'here' }, 'LOADOUT_SANDBOX_DIR'],
    'file hosts that are URLs': [{ LOADOUT_PYPI_FILE_HOSTS: 'https://files.example/' }, 'LOADOUT_PYPI_FILE_HOSTS'],
    'a folder of packages that is too small': [{ LOADOUT_SANDBOX_MAX_BYTES: '1000' }, 'LOADOUT_SANDBOX_MAX_BYTES'],
    'an unknown wish for cgroups': [{ LOADOUT_SANDBOX_CGROUPS: 'maybe' }, 'LOADOUT_SANDBOX_CGROUPS'],
    'private hosts with a space': [{ LOADOUT_PRIVATE_HOSTS: 'a.example b.example' }, 'LOADOUT_PRIVATE_HOSTS'],
    'an unknown switch': [{ LOADOUT_PRIVATE_NETWORK: 'maybe' }, 'LOADOUT_PRIVATE_NETWORK'],
    'a model without a provider': [{ LOADOUT_MODEL: 'gpt' }, 'LOADOUT_MODEL'],
    'a provider that is not known': [{ LOADOUT_MODEL: 'mistral:large' }, 'LOADOUT_MODEL'],
    'a list with a model without a provider': [{ LOADOUT_MODELS: 'openai:gpt-5,*' }, 'LOADOUT_MODELS'],
    'a list with a provider that is not known': [{ LOADOUT_MODELS: 'antropic:*' }, 'LOADOUT_MODELS'],
    'answers without a step': [{ LOADOUT_MAX_STEPS_PER_ANSWER: '0' }, 'LOADOUT_MAX_STEPS_PER_ANSWER'],
    'a budget that is no number': [{ LOADOUT_MAX_TOKENS_PER_ANSWER: 'much' }, 'LOADOUT_MAX_TOKENS_PER_ANSWER'],
    'a model that is nowhere': [{ LOADOUT_MODEL: 'openai-compatible:qwen3' }, 'LOADOUT_MODEL_URL'],
    'answers that no text can hold': [{ LOADOUT_MAX_RESPONSE_BYTES: '1000000000' }, 'LOADOUT_MAX_RESPONSE_BYTES'],
    'a negative time': [{ MCP_TOOL_CACHE_TTL_MS: '-1' }, 'MCP_TOOL_CACHE_TTL_MS'],
  }
  for (const [name, [env, setting]] of Object.entries(bad))
    it(`stop the start with one message: ${name}`, () => {
      expect(() => readConfig(env)).toThrow(
        expect.objectContaining({
          code: 'config-invalid',
          message: expect.stringMatching(new RegExp(`^${setting} [^\\n]+$`)),
        }),
      )
    })
})

describe('the command environment', () => {
  const network = {
    NODE_EXTRA_CA_CERTS: import.meta.filename,
    SSL_CERT_FILE: '/etc/ca.pem',
    REQUESTS_CA_BUNDLE: '/etc/ca.pem',
    HTTPS_PROXY: 'http://proxy.example:3128',
    https_proxy: 'http://proxy.example:3128',
    no_proxy: 'localhost',
    npm_config_registry: 'https://npm.example/',
    UV_INDEX_URL: 'https://pypi.example/simple',
    PIP_INDEX_URL: 'https://pypi.example/simple',
  }
  const own = { PATH: '/bin', LOADOUT_MASTER_KEY: KEY, npm_config_local_prefix: '/app', AWS_SECRET_ACCESS_KEY: 'x' }
  const multiUser = { LOADOUT_MODE: 'multi-user', DATABASE_URL: 'postgres://u@h/d' }

  it('has CA, proxy and registry variables in local mode, and no secret of the server', () => {
    expect(readConfig({ ...own, ...network }).commandEnv).toEqual({ PATH: '/bin', ...network })
  })

  it('has these variables in multi-user mode only if a setting turns them on', () => {
    const env = { ...own, ...network, ...multiUser }
    expect(readConfig(env).commandEnv).toEqual({ PATH: '/bin' })
    expect(readConfig({ ...env, LOADOUT_STDIO_NETWORK_ENV: 'on' }).commandEnv).toEqual({ PATH: '/bin', ...network })
  })

  it('gives commands one minute to start, or the configured time', () => {
    expect(readConfig({}).startup).toEqual({ stdioMs: 60_000, stdioMostMs: 300_000 })
    expect(readConfig({ LOADOUT_STDIO_START_MS: '90000' }).startup.stdioMs).toBe(90_000)
  })
})
