import { describe, expect, it } from 'vitest'
import { chooseProofs, summarize } from '../../scripts/prove.ts'
import { closingLine, commandFor, describeFailure, isGood, type TestRun } from '../../scripts/run-tests.ts'
import { findFlakes } from '../../scripts/stress.ts'

const FAILED = { title: "approvals > rejects a call (Ann's)", file: 'packages/x.test.ts', project: 'unit' }
const run = (more: Partial<TestRun> = {}): TestRun => ({
  passed: 2,
  failed: [],
  skipped: 0,
  retried: [],
  errors: 0,
  status: 0,
  ...more,
})

describe('a test run', () => {
  it('succeeds only if every test passed and nothing failed outside a test', () => {
    expect(isGood(run())).toBe(true)
    for (const bad of [{ passed: 0 }, { failed: [FAILED] }, { errors: 1 }, { status: 1 }])
      expect(isGood(run(bad)), JSON.stringify(bad)).toBe(false)
  })

  it('ends with the number of passed and failed tests', () => {
    expect(closingLine(run())).toBe('2 passed, 0 failed')
    expect(closingLine(run({ failed: [FAILED], skipped: 3 }))).toBe('2 passed, 1 failed, 3 skipped')
  })

  it('names a failed test, its file and the command that runs it alone', () => {
    expect(describeFailure(FAILED).split('\n')).toEqual([
      "✗ approvals > rejects a call (Ann's)",
      '  packages/x.test.ts',
      "  Run it alone: npm run vitest -- run --project unit packages/x.test.ts -t 'approvals rejects a call \\(Ann'\\''s\\)'",
    ])
    expect(commandFor({ ...FAILED, title: 'a.b' })).toContain("-t 'a\\.b'")
  })
})

describe('npm run test:stress', () => {
  it('lists a test that failed or was retried under any load, once, with the loads', () => {
    const flakes = findFlakes([
      ['no load', run()],
      ['two busy loops', run({ failed: [FAILED] })],
      ['a disk-heavy process', run({ retried: [FAILED] })],
    ])
    expect(flakes).toHaveLength(1)
    expect(flakes[0]).toContain('Did not pass with: two busy loops, a disk-heavy process')
    expect(findFlakes([['no load', run()]])).toEqual([])
  })
})

describe('npm run prove', () => {
  const scripts = { test: 'x', 'prove:audit': 'a', 'prove:tenancy': 't' }

  it('runs every prove script, or those that are named', () => {
    expect(chooseProofs(scripts, [])).toEqual(['prove:audit', 'prove:tenancy'])
    expect(chooseProofs(scripts, ['tenancy'])).toEqual(['prove:tenancy'])
    expect(() => chooseProofs(scripts, ['nothing'])).toThrow('No such proof: nothing. Choose from audit, tenancy.')
  })

  it('ends with a table that counts the proofs', () => {
    const table = summarize([
      { script: 'prove:audit', passed: true, seconds: 61.2 },
      { script: 'prove:tenancy', passed: false, seconds: 4 },
    ])
    expect(table.split('\n')).toEqual([
      '✓ prove:audit       61 s',
      '✗ prove:tenancy      4 s',
      '',
      '1 passed, 1 failed',
    ])
  })
})
