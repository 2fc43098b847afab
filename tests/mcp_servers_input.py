#!/usr/bin/env python3
"""Tasks of foreign MCP servers that need input: a person answers, and the task continues, over
kills of both sides."""
import mcp_servers
from dormouse import main, wait_for


class TaskInput(mcp_servers.Servers):
    def check(self, how, answered):
        self.serve(self.program(how, ask='"none"'))
        task = self.call('quiz')
        call = self.question()
        self.assertIn('Who are you?', call['message'])
        self.assertEqual(call['form']['required'], ['name'])
        self.server.restart()
        self.server.decide(call, True, content={'name': 3})
        again = self.question(but=call)
        self.assertIn('does not fit', again['message'])
        self.server.decide(again, True, content={'name': 'Ann'})
        self.assertIn(answered, self.outcome(task))
        self.assertEqual(self.log().count('call quiz {}'), 1, 'the task continues')

    def test_request_of_the_server_is_answered(self):
        self.check('well', '{"action": "accept", "content": {"name": "Ann"}}')

    def test_input_requests_of_the_extension_are_answered(self):
        self.check('extension', '{"who": {"action": "accept", "content": {"name": "Ann"}}}')

    def test_input_requests_of_a_stateless_server_are_answered(self):
        self.check('stateless', '{"who": {"action": "accept", "content": {"name": "Ann"}}}')

    def test_cancelled_question_cancels_the_task(self):
        self.serve(self.program('extension', ask='"none"'))
        task = self.call('quiz')
        self.question()
        self.assertStatus(self.server.post(f'/api/tasks/{task}/cancel'), 204)
        wait_for(lambda: 'tasks/cancel task-1' in self.log(), 20, 'the cancellation')

    def test_result_is_no_answer(self):
        self.serve(self.program(ask='"none"'))
        self.call('quiz')
        call = self.question()
        self.assertProblem(self.server.result(call['id'], 'done'), 422, 'wrong_kind')


if __name__ == '__main__':
    main()
