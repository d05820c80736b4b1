import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { toast } from 'sonner'
import { answer, client } from '../../lib/api.ts'
import { ProblemNotice } from '../../lib/problems.tsx'
import { RulesEditor } from '../operator/policy/rules-editor.tsx'
import type { PolicyRule } from '../operator/queries.ts'
import { Loading, Section } from '../operator/section.tsx'
import { settingsRulesQuery } from './queries.ts'

export function RulesTab() {
  const { data, error } = useQuery(settingsRulesQuery())
  const save = useSaveRules()
  if (error && !data) return <ProblemNotice error={error} />
  if (!data) return <Loading label="Loading rules" />
  return (
    <Section
      title="Your rules"
      note="What may be called without asking you, what is asked, and what never is. The first rule that fits holds; yours can only be stricter than the operator’s."
    >
      <RulesEditor
        stored={data}
        save={save}
        empty={
          <>
            There are none: the operator’s rules hold. A rule names tools by a pattern, as in{' '}
            <code className="font-mono">github.delete_*</code>.
          </>
        }
      />
    </Section>
  )
}

function useSaveRules() {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (rules: PolicyRule[]) => answer(client.api.policy.own.$put({ json: { rules } })),
    onSuccess: ({ rules }) => {
      queryClient.setQueryData(settingsRulesQuery().queryKey, rules)
      toast.success('Rules saved')
    },
  })
}
