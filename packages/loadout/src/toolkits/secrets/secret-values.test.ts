import { describe, expect, it } from 'vitest'
import { isSecretArgument, isSecretName } from './looks-secret.ts'
import { isSecretField, secretValues } from './secret-values.ts'

const KEY = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'

describe('secretValues', () => {
  it.each([
    ['env.GITHUB_TOKEN', KEY],
    ['env.ANYTHING', KEY],
    ['env.DB_PASSWORD', 'correct horse battery'],
    ['env.X', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b'],
    ['headers.X-Api-Key', 'a1b2c3d4e5'],
    ['headers.Authorization', `Bearer ${KEY}`],
    ['values.token', 'hunter22-hunter22'],
    ['auth.token', 'abcd'],
    ['auth.clientSecret', 'plain'],
    ['secrets.SALT', 'salt'],
    ['args.0', 'hunter22'],
    ['args.input0', 'short'],
    ['carried.env.API_TOKEN', 'hunter22-hunter22'],
  ])('includes %s = %s', (field, value) => expect(secretValues({ [field]: value })).toContain(value))

  it.each([
    ['env.DEBUG', 'true'],
    ['env.LOG_LEVEL', 'info'],
    ['env.MIN_LEVEL', 'error'],
    ['env.NEO4J_USERNAME', 'neo4j'],
    ['env.NEO4J_PASSWORD', 'neo4j'],
    ['env.DATA_DIR', '/data'],
    ['env.PATH', '/usr/local/bin:/usr/bin:/bin'],
    ['env.GRAFANA_URL', 'https://grafana.example.com/d/abc'],
    ['env.TOKEN_URL', 'https://login.example.com/oauth/token'],
    ['env.AUTH_HOST', 'login.example.com'],
    ['env.SSH_KEY_PATH', '/home/ann/.ssh/id_ed25519'],
    ['env.GOOGLE_APPLICATION_CREDENTIALS', '/home/ann/service-account.json'],
    ['env.GIT_AUTHOR_NAME', 'Ann Example'],
    ['env.AUTH_TYPE', 'delegated'],
    ['env.API_TOKEN', 'aaaaaaaaaaaa'],
    ['headers.X-Team', 'platform-engineering'],
    ['args.0', '/srv/shared/data'],
    ['url.0', 'neo4j'],
  ])('leaves out %s = %s', (field, value) => expect(secretValues({ [field]: value })).toEqual([]))

  it('takes only the credentials out of a URL', () => {
    const value = 'postgres://neo4j:s3cr3t-pass@db.example.com/main?sslmode=require'
    expect(secretValues({ 'env.DATABASE_URL': value })).toEqual(['s3cr3t-pass'])
    const hook = 'https://hooks.example.com/services/T00000000/a1B2c3D4e5F6g7H8i9J0k1L2'
    expect(secretValues({ 'env.WEBHOOK': hook })).toEqual(['a1B2c3D4e5F6g7H8i9J0k1L2'])
  })

  it.each([
    ['env.OPTIONS', `--verbose --token=${KEY} --level info`],
    ['env.START_URL', `https://example.com/start#next=1;${KEY}`],
    ['headers.X-Note', `uses ${KEY}, as agreed`],
    ['args.0', `Authorization: Bearer ${KEY}`],
  ])('includes the key by itself that %s has among other words', (field, value) =>
    expect(secretValues({ [field]: value })).toContain(KEY),
  )

  it('takes only the secret fields out of JSON and of a connection string', () => {
    const account = { type: 'service_account', project_id: 'my-project', private_key: 'abcdEFGH1234', retries: 3 }
    expect(secretValues({ 'env.ACCOUNT': JSON.stringify(account) })).toEqual(['abcdEFGH1234'])
    const text = 'Server=db.example.com;User=neo4j;Password=hunter22;Encrypt=true'
    expect(secretValues({ 'env.CONNECTION': text })).toEqual(['hunter22'])
  })
})

describe('secret names', () => {
  it.each([
    'apiKey',
    'api_token',
    'API_KEY',
    'apikey',
    'Authorization',
    'client_secret',
    'passwd',
    'DB_PASSWORD',
    'pwd',
    'cookie',
    'sessionId',
    'ssh-key',
    'OPENAI_KEY',
    '--token',
    'X-Auth',
    'dsn',
    'signature',
    'privateKey',
  ])('%s names a secret', (name) => expect(isSecretName(name)).toBe(true))

  it.each([
    'author',
    'keyword',
    'monkey',
    'max_tokens',
    'tokenizer',
    'token_url',
    'GOOGLE_CREDENTIALS_FILE',
    'auth_type',
    'AUTH_MODE',
    'path',
    'KEY_PATH',
    'secretName',
    'design',
    'assignee',
    'compass',
    'authority',
  ])('%s names no secret', (name) => expect(isSecretName(name)).toBe(false))

  it('hide an argument with a weak name only when the value looks like a key', () => {
    expect(isSecretArgument('issue_key', 'PROJ-1234')).toBe(false)
    expect(isSecretArgument('key', 'settings/theme')).toBe(false)
    expect(isSecretArgument('key', KEY)).toBe(true)
    expect(isSecretArgument('password', 'x')).toBe(true)
    expect(isSecretArgument('useToken', true)).toBe(false)
  })

  it('mark a stored field as a secret', () => {
    expect(['env.PATH', 'env.LOG_LEVEL', 'headers.X-Team'].map(isSecretField)).toEqual([false, false, false])
    expect(['env.API_KEY', 'headers.Authorization', 'auth.token', 'args.0'].map(isSecretField)).not.toContain(false)
  })
})
