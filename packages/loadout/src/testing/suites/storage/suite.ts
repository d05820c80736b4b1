/**
 * Storage contract as cases for any driver: `for (const { name, run } of storageSuite(open)) …`. Each case gets a
 * fresh, empty storage. It uses no test framework, so it runs in Node, in a browser and in your CI.
 */
import type { Change, Storage } from '../../../storage/storage.ts'
import { check, equal, eventually, rejects } from '../../check.ts'
import type { CaseBody, SuiteCase } from '../../suite-case.ts'
import { accessCases } from './access.ts'
import { faultCases } from './faults.ts'
import { configRow, sampleThreadRow, toolRow } from './rows.ts'

const ANN = { userId: 'ann' }
const BOB = { userId: 'bob' }

const cases: Record<string, CaseBody> = {
  'a row comes back as it was stored': async (storage) => {
    const row = configRow('ann', {
      configJson: { type: 'stdio', command: 'x', args: ['a', 'ü', '漢', '😀'], env: { A: '' } },
    })
    await storage.transaction(ANN, (tx) => tx.insert('userServerConfigs', row))
    const found = await storage.transaction(ANN, (tx) => tx.get('userServerConfigs', row.uscoId))
    equal(found, row, 'the stored row')
    check(found?.createdAt instanceof Date, 'a time comes back as a Date')
  },

  'a schema keeps the order of its properties': async (storage) => {
    const config = configRow('ann')
    const property = { type: 'string', description: 'd', minLength: 1 }
    const schema = {
      type: 'object',
      properties: { zone: property, a: property, path: property },
      required: ['zone', 'a'],
    }
    const tool = (name: string) =>
      toolRow('ann', config.uscoId, { name, inputSchemaJson: schema, outputSchemaJson: schema })
    await storage.transaction({ caller: 'introspection', userId: 'ann' }, async (tx) => {
      await tx.insert('userServerConfigs', config)
      await tx.insert('userServerTools', tool('one'))
      await tx.insertAll('userServerTools', [tool('many')])
    })
    const rows = await storage.transaction(ANN, (tx) => tx.list('userServerTools'))
    equal(rows.length, 2, 'the number of tools')
    for (const { name, inputSchemaJson, outputSchemaJson } of rows) {
      equal(JSON.stringify(inputSchemaJson), JSON.stringify(schema), `the input schema of ${name}`)
      equal(JSON.stringify(outputSchemaJson), JSON.stringify(schema), `the output schema of ${name}`)
    }
  },

  'a tool keeps its icons and what its server adds for programs': async (storage) => {
    const config = configRow('ann')
    const iconsJson = [{ src: 'data:image/svg+xml;base64,PHN2Zy8+', mimeType: 'image/svg+xml', sizes: ['any'] }]
    const metaJson = { 'example.com/zone': { b: 1, a: [true, null] } }
    await storage.transaction({ caller: 'introspection', userId: 'ann' }, async (tx) => {
      await tx.insert('userServerConfigs', config)
      await tx.insert('userServerTools', toolRow('ann', config.uscoId, { name: 'one', iconsJson, metaJson }))
      await tx.insertAll('userServerTools', [toolRow('ann', config.uscoId, { name: 'plain' })])
      const [plain] = await tx.list('userServerTools', { where: { name: 'plain' } })
      await tx.update('userServerTools', plain?.utoolId ?? '', { set: { iconsJson: iconsJson.slice(0, 1) } })
    })
    const rows = await storage.transaction(ANN, (tx) => tx.list('userServerTools'))
    const shown = rows.map((row) => [row.name, row.iconsJson, row.metaJson])
    equal(
      shown.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
      [
        ['one', iconsJson, metaJson],
        ['plain', iconsJson, null],
      ],
      'icons and metadata',
    )
  },

  'an absent row is undefined': async (storage) => {
    const found = await storage.transaction(ANN, (tx) => tx.get('threads', 'nothing'))
    equal(found, undefined, 'a row that is not there')
    const changed = await storage.transaction(ANN, (tx) => tx.update('threads', 'nothing', { set: { title: 'x' } }))
    equal(changed, undefined, 'a change of a row that is not there')
    equal(await storage.transaction(ANN, (tx) => tx.delete('threads', 'nothing')), false, 'a deletion of nothing')
  },

  'an update changes only the fields that it names': async (storage) => {
    const row = sampleThreadRow('ann', { settingsJson: { a: 1 } })
    await storage.transaction(ANN, (tx) => tx.insert('threads', row))
    const changed = await storage.transaction(ANN, (tx) =>
      tx.update('threads', row.threadId, { set: { title: 'New' } }),
    )
    equal(changed, { ...row, title: 'New' }, 'the changed row')
    equal(await storage.transaction(ANN, (tx) => tx.get('threads', row.threadId)), changed, 'what is stored')
  },

  'a conditional update is a compare-and-set': async (storage) => {
    const row = sampleThreadRow('ann', { title: 'one' })
    await storage.transaction(ANN, (tx) => tx.insert('threads', row))
    const change = (from: string, to: string) =>
      storage.transaction(ANN, (tx) =>
        tx.update('threads', row.threadId, { set: { title: to }, where: { title: from } }),
      )
    const outcomes = await Promise.all([change('one', 'two'), change('one', 'three')])
    equal(outcomes.filter((outcome) => outcome !== undefined).length, 1, 'how many of two racing changes won')
  },

  'changing a returned row does not change the store': async (storage) => {
    const row = sampleThreadRow('ann', { settingsJson: { list: [1] } })
    await storage.transaction(ANN, (tx) => tx.insert('threads', row))
    ;(row.settingsJson.list as number[]).push(2)
    const found = await storage.transaction(ANN, (tx) => tx.get('threads', row.threadId))
    check(found, 'the row is there')
    equal(found.settingsJson, { list: [1] }, 'the stored value')
    ;(found.settingsJson.list as number[]).push(3)
    const again = await storage.transaction(ANN, (tx) => tx.get('threads', row.threadId))
    equal(again?.settingsJson, { list: [1] }, 'the stored value after a reader changed its copy')
  },

  'a list filters, orders and pages by id': async (storage) => {
    const rows = Array.from({ length: 7 }, (_, i) =>
      sampleThreadRow('ann', { threadId: `t${i}`, title: i % 2 ? 'odd' : 'even' }),
    )
    await storage.transaction(ANN, async (tx) => {
      for (const row of rows.toReversed()) await tx.insert('threads', row)
    })
    const ids = async (query: Parameters<Parameters<Parameters<Storage['transaction']>[1]>[0]['list']>[1]) =>
      (await storage.transaction(ANN, (tx) => tx.list('threads', query as never))).map((row) => row.threadId)
    equal(await ids({}), ['t0', 't1', 't2', 't3', 't4', 't5', 't6'], 'all in order')
    equal(await ids({ where: { title: 'odd' } as never }), ['t1', 't3', 't5'], 'the filtered')
    equal(await ids({ after: 't2', limit: 2 }), ['t3', 't4'], 'a page')
    equal(await ids({ after: 't2', order: 'desc' }), ['t1', 't0'], 'a page backwards')
  },

  'a bulk insert stores all rows as given or none of them': async (storage) => {
    const rows = Array.from({ length: 40 }, (_, i) =>
      configRow('ann', {
        configJson: { type: 'stdio', command: `it's "${i}"`, args: ['ü', '漢😀', '\\n\n'], env: { N: 1.5, no: null } },
        introspectedAt: i % 2 ? new Date(1_700_000_000_000 + i) : null,
      }),
    )
    await storage.transaction(ANN, (tx) => tx.insertAll('userServerConfigs', rows))
    const found = await storage.transaction(ANN, (tx) => tx.list('userServerConfigs'))
    equal(
      found,
      [...rows].sort((a, b) => (a.uscoId < b.uscoId ? -1 : 1)),
      'the stored rows',
    )
    const fresh = () => configRow('ann')
    for (const [bad, code] of [
      [{ ...fresh(), slug: rows[0]?.slug ?? '' }, 'conflict'],
      [{ ...fresh(), name: '\0' }, 'invalid-row'],
      [{ ...fresh(), userId: 'bob' }, 'forbidden'],
    ] as const)
      await rejects(
        storage.transaction(ANN, (tx) => tx.insertAll('userServerConfigs', [fresh(), bad, fresh()])),
        code,
        `one of them is refused as ${code}`,
      )
    const twice = fresh()
    await rejects(
      storage.transaction(ANN, (tx) => tx.insertAll('userServerConfigs', [twice, twice])),
      'conflict',
      'the same row twice',
    )
    await rejects(
      storage.transaction({ caller: 'introspection', userId: 'ann' }, (tx) =>
        tx.insertAll('userServerTools', [toolRow('ann', 'usco_none')]),
      ),
      'not-found',
      'a row without its parent',
    )
    await storage.transaction(ANN, (tx) => tx.insertAll('userServerConfigs', []))
    equal((await storage.transaction(ANN, (tx) => tx.list('userServerConfigs'))).length, 40, 'how many there are')
  },

  'a list returns the rows between two times': async (storage) => {
    const at = (ms: number) => new Date(1_700_000_000_000 + ms)
    const rows = [0, 1, 2, 3].map((ms) => sampleThreadRow('ann', { threadId: `t${ms}`, createdAt: at(ms) }))
    await storage.transaction(ANN, (tx) => tx.insertAll('threads', rows))
    const ids = async (range: { from?: Date; to?: Date }) =>
      (await storage.transaction(ANN, (tx) => tx.list('threads', { between: { field: 'createdAt', ...range } }))).map(
        (row) => row.threadId,
      )
    equal(await ids({ from: at(1), to: at(2) }), ['t1', 't2'], 'between two')
    equal(await ids({ from: at(2) }), ['t2', 't3'], 'from one')
    equal(await ids({ to: at(0) }), ['t0'], 'up to one')
  },

  'a filter matches null and times': async (storage) => {
    const at = new Date('2026-01-02T03:04:05.678Z')
    const plain = configRow('ann')
    const dated = configRow('ann', { introspectedAt: at, introspectionStatus: 'success' })
    await storage.transaction(ANN, async (tx) => {
      await tx.insert('userServerConfigs', plain)
      await tx.insert('userServerConfigs', dated)
    })
    const find = (where: object) => storage.transaction(ANN, (tx) => tx.list('userServerConfigs', { where }))
    equal(
      (await find({ introspectedAt: null })).map((row) => row.uscoId),
      [plain.uscoId],
      'those without a time',
    )
    equal(
      (await find({ introspectedAt: at })).map((row) => row.uscoId),
      [dated.uscoId],
      'those of that time',
    )
  },

  'a transaction sees its own writes': async (storage) => {
    const row = sampleThreadRow('ann')
    await storage.transaction(ANN, async (tx) => {
      await tx.insert('threads', row)
      equal((await tx.get('threads', row.threadId))?.title, row.title, 'a write of this transaction')
      await tx.update('threads', row.threadId, { set: { title: 'two' } })
      equal(
        (await tx.list('threads')).map((found) => found.title),
        ['two'],
        'a change of this transaction',
      )
      await tx.delete('threads', row.threadId)
      equal(await tx.list('threads'), [], 'after its deletion')
    })
  },

  'a failed transaction changes nothing': async (storage) => {
    const existing = sampleThreadRow('ann', { title: 'kept' })
    await storage.transaction(ANN, (tx) => tx.insert('threads', existing))
    const failing = storage.transaction(ANN, async (tx) => {
      await tx.insert('threads', sampleThreadRow('ann'))
      await tx.update('threads', existing.threadId, { set: { title: 'lost' } })
      throw new Error('on purpose')
    })
    const message = await failing.then(
      () => '',
      (error: Error) => error.message,
    )
    equal(message, 'on purpose', 'the error of the work itself')
    const rows = await storage.transaction(ANN, (tx) => tx.list('threads'))
    equal(
      rows.map((row) => row.title),
      ['kept'],
      'what is left',
    )
  },

  'a unique key can be used once per owner': async (storage) => {
    await storage.transaction(ANN, (tx) => tx.insert('userServerConfigs', configRow('ann', { slug: 'fs', name: 'FS' })))
    const sameName = configRow('ann', { slug: 'other', name: 'FS' })
    await rejects(
      storage.transaction(ANN, (tx) => tx.insert('userServerConfigs', sameName)),
      'conflict',
      'the same name',
    )
    const sameSlug = configRow('ann', { slug: 'fs' })
    await rejects(
      storage.transaction(ANN, (tx) => tx.insert('userServerConfigs', sameSlug)),
      'conflict',
      'the same slug',
    )
    await storage.transaction(BOB, (tx) => tx.insert('userServerConfigs', configRow('bob', { slug: 'fs', name: 'FS' })))
    const other = configRow('ann', { slug: 'two', name: 'Two' })
    await storage.transaction(ANN, (tx) => tx.insert('userServerConfigs', other))
    const rename = storage.transaction(ANN, (tx) =>
      tx.update('userServerConfigs', other.uscoId, { set: { name: 'FS' } }),
    )
    await rejects(rename, 'conflict', 'a rename onto a taken name')
  },

  'a duplicate id is a conflict for one owner and allowed across owners': async (storage) => {
    await storage.transaction(ANN, (tx) => tx.insert('threads', sampleThreadRow('ann', { threadId: 't' })))
    await rejects(
      storage.transaction(ANN, (tx) => tx.insert('threads', sampleThreadRow('ann', { threadId: 't' }))),
      'conflict',
      'twice',
    )
    await storage.transaction(BOB, (tx) =>
      tx.insert('threads', sampleThreadRow('bob', { threadId: 't', title: "Bob's" })),
    )
    equal((await storage.transaction(BOB, (tx) => tx.get('threads', 't')))?.title, "Bob's", "Bob's row of the same id")
    equal(
      (await storage.transaction(ANN, (tx) => tx.get('threads', 't')))?.title,
      'A thread',
      "Ann's row of the same id",
    )
  },

  'a row that violates its schema is not stored': async (storage) => {
    const wrongType = configRow('ann', { configType: 'mcp_pigeon' as never })
    await rejects(
      storage.transaction(ANN, (tx) => tx.insert('userServerConfigs', wrongType)),
      'invalid-row',
      'an unknown config_type',
    )
    const row = configRow('ann')
    await storage.transaction(ANN, (tx) => tx.insert('userServerConfigs', row))
    const notObject = toolRow('ann', row.uscoId, { inputSchemaJson: { type: 'string' } })
    const insert = storage.transaction({ caller: 'introspection', userId: 'ann' }, (tx) =>
      tx.insert('userServerTools', notObject),
    )
    await rejects(insert, 'invalid-row', 'an input schema that is not an object schema')
  },

  'child rows need their parent and are deleted with it': async (storage) => {
    const config = configRow('ann')
    const asIntrospection = { caller: 'introspection', userId: 'ann' } as const
    const orphan = storage.transaction(asIntrospection, (tx) =>
      tx.insert('userServerTools', toolRow('ann', 'usco_none')),
    )
    await rejects(orphan, 'not-found', 'a tool of no config')
    await storage.transaction(ANN, (tx) => tx.insert('userServerConfigs', config))
    await storage.transaction(asIntrospection, (tx) => tx.insert('userServerTools', toolRow('ann', config.uscoId)))
    equal((await storage.transaction(ANN, (tx) => tx.list('userServerTools'))).length, 1, 'tools before')
    await storage.transaction(ANN, (tx) => tx.delete('userServerConfigs', config.uscoId))
    equal(await storage.transaction(ANN, (tx) => tx.list('userServerTools')), [], 'tools after')
  },

  'watchers receive only committed changes': async (storage, deadlineMs) => {
    const changes: Change[] = []
    const stop = await storage.watch((change) => changes.push(change))
    equal(changes, [{ kind: 'live' }], 'what a watcher hears first')
    const row = sampleThreadRow('ann')
    await storage.transaction(ANN, (tx) => tx.insert('threads', row))
    const expected = { kind: 'row', collection: 'threads', userId: 'ann', id: row.threadId }
    await eventually(() => changes.length === 2, 'the change is told', deadlineMs)
    equal(changes[1], expected, 'what is told')
    await storage
      .transaction(ANN, async (tx) => {
        await tx.update('threads', row.threadId, { set: { title: 'lost' } })
        throw new Error('on purpose')
      })
      .catch(() => {})
    await storage.transaction(ANN, (tx) => tx.delete('threads', row.threadId))
    await eventually(() => changes.length === 3, 'the deletion is told', deadlineMs)
    stop()
    await storage.transaction(ANN, (tx) => tx.insert('threads', sampleThreadRow('ann')))
    await new Promise((resolve) => setTimeout(resolve, 50))
    equal(changes.slice(1), [expected, expected], 'all that was told')
  },

  'deleting a config also notifies watchers of its tools': async (storage, deadlineMs) => {
    const config = configRow('ann')
    await storage.transaction(ANN, (tx) => tx.insert('userServerConfigs', config))
    await storage.transaction({ caller: 'introspection', userId: 'ann' }, (tx) =>
      tx.insert('userServerTools', toolRow('ann', config.uscoId)),
    )
    const changes: Change[] = []
    await storage.watch((change) => changes.push(change))
    await storage.transaction(ANN, (tx) => tx.delete('userServerConfigs', config.uscoId))
    const tools = () =>
      changes.some((c) => c.kind === 'row' && c.collection === 'userServerTools' && c.id === config.uscoId)
    await eventually(tools, 'the tools of a removed config are told by its id', deadlineMs)
  },

  'concurrent transactions all commit': async (storage) => {
    const rows = Array.from({ length: 40 }, (_, i) => sampleThreadRow(`user${i % 4}`))
    await Promise.all(rows.map((row) => storage.transaction({ userId: row.userId }, (tx) => tx.insert('threads', row))))
    for (let i = 0; i < 4; i++) {
      const found = await storage.transaction({ userId: `user${i}` }, (tx) => tx.list('threads'))
      equal(found.length, 10, `the rows of user${i}`)
    }
  },
}

/** Runs every case on a storage from `open` and closes it afterwards. */
export function storageSuite(
  open: () => Promise<Storage> | Storage,
  { deadlineMs = 20_000 }: { deadlineMs?: number } = {},
): SuiteCase[] {
  return Object.entries({ ...cases, ...accessCases, ...faultCases }).map(([name, body]) => ({
    name,
    async run() {
      const storage = await open()
      try {
        await body(storage, deadlineMs)
      } finally {
        await storage.close()
      }
    },
  }))
}
