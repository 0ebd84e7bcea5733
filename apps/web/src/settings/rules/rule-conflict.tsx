import type { WorkspaceSettings } from '@tracking/client';
import { type Rule, type RuleType, type RuleValues, differences, leavesOf } from './rule-changes.ts';
import { settingLabel, settingValue } from './rule-words.ts';
import { SettingsConflict } from './settings-conflict.tsx';

interface Props {
  readonly type: RuleType;
  /** As it was when the form was opened. */
  readonly known: Rule;
  readonly meanwhile: WorkspaceSettings;
  readonly mine: RuleValues;
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly onMine: () => void;
  readonly onTheirs: () => void;
}

export function RuleConflict({ type, known, meanwhile, mine, ...rest }: Props) {
  const theirs = meanwhile.exceptions[type];
  const [now, wanted] = [leavesOf(theirs), leavesOf(ruleOf(mine))];
  const differing = differences(known, theirs).map((name) => ({
    name: settingLabel(name),
    theirs: settingValue(now[name]),
    mine: settingValue(wanted[name]),
  }));
  return (
    <SettingsConflict
      {...rest}
      meanwhile={meanwhile}
      of="Setting"
      differing={differing}
      elsewhere="This rule is as it was: the change is about another one."
    />
  );
}

function ruleOf({ after_hours, before_hours, by_mode, ...rest }: RuleValues): Rule {
  const modes = Object.entries(by_mode).filter(([, hours]) => hours !== '');
  return {
    ...rest,
    after_hours: after_hours === '' ? null : after_hours,
    before_hours: before_hours === '' ? null : before_hours,
    by_mode: Object.fromEntries(modes) as Rule['by_mode'],
  };
}
