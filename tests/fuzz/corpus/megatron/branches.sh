if [ $1 = a ]; then TP=2; elif [ 1 -gt 0 ]; then TP=4; else TP=8; fi
case $X in a) PP=1;; *) PP=2;; esac
for i in 1 2; do run --tensor-model-parallel-size $TP --pipeline-model-parallel-size $PP --num-layers 4 --hidden-size 64 --num-attention-heads 4; done
fi fi esac ;; then else
