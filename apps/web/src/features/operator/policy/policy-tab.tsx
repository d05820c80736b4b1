import { useQuery } from '@tanstack/react-query'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Badge } from '../../../ui/data/badge.tsx'
import { type PolicyRule, policyQuery } from '../queries.ts'
import { Loading, Section } from '../section.tsx'
import { useSetPolicy } from '../system/use-app.ts'
import { formatConditions, RULE_DECISION_LABELS } from './rule-form.tsx'
import { RulesEditor } from './rules-editor.tsx'

export function PolicyTab() {
  const { data, error } = useQuery(policyQuery())
  const save = useSetPolicy()
  if (error && !data) return <ProblemNotice error={error} />
  if (!data) return <Loading label="Loading rules" />
  return (
    <>
      {data.given.length > 0 && <CodeRules rules={data.given} />}
      <Section
        title="Rules for everyone"
        note="The first rule that fits a call holds. What no rule fits is asked. Users and threads may only be stricter."
      >
        <RulesEditor
          stored={data.rules}
          save={save}
          empty="There are none: read-only tools of trusted servers are allowed, and the rest is asked."
        />
      </Section>
    </>
  )
}

function CodeRules({ rules }: { rules: readonly PolicyRule[] }) {
  return (
    <Section title="Rules of the app’s code" note="They are tried first, and changed in the code.">
      <ol className="divide-y overflow-hidden rounded-xl border bg-surface text-sm shadow-flat">
        {rules.map((rule) => (
          <li key={JSON.stringify(rule)} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5">
            <code className="font-mono text-[0.8125rem] wrap-anywhere">{rule.pattern}</code>
            <Badge>{RULE_DECISION_LABELS[rule.decision]}</Badge>
            <span className="text-ink-muted">{formatConditions(rule)}</span>
          </li>
        ))}
      </ol>
    </Section>
  )
}
